-- An array larger than all memory.
operator.matmul { N = 8, M = 8, K = 8 }
param.p = factors(8, 2)
kernel { template = "giant_array.comp", groups = function() return { 1 } end }
