-- The same, in parentheses.
operator.matmul { N = 8, M = 8, K = 8 }
param.p = factors(8, 2)
kernel { template = "deep_parentheses.comp", groups = function() return { 1 } end }
