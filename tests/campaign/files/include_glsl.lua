-- A file of this machine by the compiler's own words.
operator.matmul { N = 8, M = 8, K = 8 }
param.p = factors(8, 2)
kernel { template = "include_glsl.comp", groups = function() return { 1 } end }
