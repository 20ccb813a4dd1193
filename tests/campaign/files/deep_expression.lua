-- A chain of 15000 terms: what parses it by recursion has no stack left.
operator.matmul { N = 8, M = 8, K = 8 }
param.p = factors(8, 2)
kernel { template = "deep_expression.comp", groups = function() return { 1 } end }
