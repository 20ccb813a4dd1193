-- Macros that double what they stand for, 30 times.
operator.matmul { N = 8, M = 8, K = 8 }
param.p = factors(8, 2)
kernel { template = "macro_bomb.comp", groups = function() return { 1 } end }
