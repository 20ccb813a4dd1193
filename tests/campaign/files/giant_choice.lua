-- As many words as memory takes: each is compared with all before it.
local words = {}
for i = 1, 400000 do words[i] = "w" .. i end
choice("Q", words)
operator.matmul { N = 8, M = 8, K = 8 }
param.p = factors(8, 2)
kernel { template = "plain.comp", groups = function() return { 1 } end }
