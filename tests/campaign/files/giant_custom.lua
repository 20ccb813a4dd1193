-- As many neighbours as there can be.
operator.matmul { N = 8, M = 8, K = 8 }
param.p = factors(8, 2)
local all = {}
for i = 1, 4096 do all[i] = i end
param.q = custom { values = all, neighbours = function() return all end }
kernel { template = "plain.comp", groups = function() return { 1 } end }
