-- A template that is a link out of the folder: the campaign makes it.
operator.matmul { N = 8, M = 8, K = 8 }
param.p = factors(8, 2)
kernel { template = "link.comp", groups = function() return { 1 } end }
