-- The name of a template that a terminal would obey.
operator.matmul { N = 8, M = 8, K = 8 }
param.p = factors(8, 2)
kernel { template = "\27[2J\13.comp", groups = function() return { 1 } end }
