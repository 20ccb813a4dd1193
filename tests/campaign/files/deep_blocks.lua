-- The same, in blocks.
operator.matmul { N = 8, M = 8, K = 8 }
param.p = factors(8, 2)
kernel { template = "deep_blocks.comp", groups = function() return { 1 } end }
