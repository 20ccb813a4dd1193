-- A template that never ends.
operator.matmul { N = 8, M = 8, K = 8 }
param.p = factors(8, 2)
kernel { template = "endless_template.comp", groups = function() return { 1 } end }
