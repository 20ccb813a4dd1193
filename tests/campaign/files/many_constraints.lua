-- Thousands of rules.
operator.matmul { N = 8, M = 8, K = 8 }
param.p = factors(8, 2)
for i = 1, 20000 do constraint("c" .. i, function(c) return c.p[1] > 0 end) end
kernel { template = "plain.comp", groups = function() return { 1 } end }
