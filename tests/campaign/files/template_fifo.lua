-- A template that is a pipe that nobody writes to: the campaign makes it.
operator.matmul { N = 8, M = 8, K = 8 }
param.p = factors(8, 2)
kernel { template = "pipe.comp", groups = function() return { 1 } end }
