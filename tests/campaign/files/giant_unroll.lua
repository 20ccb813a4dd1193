-- Loops that a compiler would write out.
operator.matmul { N = 8, M = 8, K = 8 }
param.p = factors(8, 2)
kernel { template = "giant_unroll.comp", groups = function() return { 1 } end }
