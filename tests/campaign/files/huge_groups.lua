-- More groups than a device can start.
operator.matmul { N = 8, M = 8, K = 8 }
param.p = factors(8, 2)
kernel { template = "plain.comp", groups = function() return { 2147483647, 65535, 65535 } end }
