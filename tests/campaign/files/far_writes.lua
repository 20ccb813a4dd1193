-- Writes far behind and before a buffer.
operator.matmul { N = 8, M = 8, K = 8 }
param.p = factors(8, 2)
kernel { template = "far_writes.comp", groups = function() return { 1 } end }
