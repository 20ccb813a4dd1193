-- A folder that is a link out of the folder: the campaign makes it.
operator.matmul { N = 8, M = 8, K = 8 }
param.p = factors(8, 2)
kernel { template = "elsewhere/secret", groups = function() return { 1 } end }
