-- Numbers beyond all measure.
local N = size("N", 2147483647)
operator.matmul { N = N, M = N, K = N }
param.p = factors(N, 16)
resources(function(c) return { invocations = { math.maxinteger, math.maxinteger, 1 }, groups = { 1, 1, math.maxinteger } } end)
scratch(function(c) return math.maxinteger end)
kernel { template = "plain.comp", groups = function() return { 1 } end }
