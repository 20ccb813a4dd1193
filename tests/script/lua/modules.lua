-- A module runs once, and sees the language.
local m, n = include 'm.lua', include 'm.lua'
assert(m == n and m.count == 1 and m.type == device.type)
assert(include 'nothing.lua' == true)
operator.matmul { N = 8, M = 8, K = 8 }
kernel { template = 't.comp', groups = function() return { 1 } end }
