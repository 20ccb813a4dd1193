-- A text of an error of the compiler that a terminal would obey.
operator.matmul { N = 8, M = 8, K = 8 }
param.p = factors(8, 2)
kernel { template = "escapes_glsl.comp", groups = function() return { 1 } end }
