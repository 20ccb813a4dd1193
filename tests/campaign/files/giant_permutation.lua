-- 16! orders of each of two parameters, and a product of primes.
operator.matmul { N = 8, M = 8, K = 8 }
param.p = factors(8, 2)
local items = {}
for i = 1, 16 do items[i] = "i" .. i end
param.q = permutation(items)
param.r = permutation(items)
param.s = factors(2147483646, 16)
kernel { template = "plain.comp", groups = function() return { 1 } end }
