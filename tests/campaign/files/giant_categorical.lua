-- The same for the values of a parameter.
operator.matmul { N = 8, M = 8, K = 8 }
param.p = factors(8, 2)
local words = {}
for i = 1, 65536 do words[i] = "w" .. i end
param.q = categorical(words)
param.r = categorical(words)
kernel { template = "plain.comp", groups = function() return { 1 } end }
