-- A value that a terminal would obey.
operator.matmul { N = 8, M = 8, K = 8 }
param.p = factors(8, 2)
param.q = categorical { "\27[2J", "\13\226\128\174" }
kernel { template = "plain.comp", groups = function() return { 1 } end }
