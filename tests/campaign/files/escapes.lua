-- Names and texts that a terminal would obey.
operator.matmul { N = 8, M = 8, K = 8 }
param.p = factors(8, 2)
param["\27[2J\27]0;owned\7"] = discrete { 1, 2 }
constraint("\27[31m\155red\226\128\174", function(c) return true end)
kernel { template = "plain.comp", groups = function() return { 1 } end }
