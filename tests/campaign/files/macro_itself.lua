-- Macros that stand for each other.
operator.matmul { N = 8, M = 8, K = 8 }
param.p = factors(8, 2)
kernel { template = "macro_itself.comp", groups = function() return { 1 } end }
