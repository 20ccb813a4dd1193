-- The name of a size that a terminal would obey.
size("\27[2J\27]0;owned\7", 8)
operator.matmul { N = 8, M = 8, K = 8 }
param.p = factors(8, 2)
kernel { template = "plain.comp", groups = function() return { 1 } end }
