-- The name of a rule that a terminal would obey.
operator.matmul { N = 8, M = 8, K = 8 }
param.p = factors(8, 2)
constraint("\27[2J\27]0;owned\7\155 \226\128\174\13", function(c) return c.p[1] > 4 end)
kernel { template = "plain.comp", groups = function() return { 1 } end }
