-- A derived value is made once for each configuration: how many were made when the n-th is judged.
param.p = discrete { 1, 2, 3 }
operator.matmul { N = 8, M = 8, K = 8 }
kernel { template = 't.comp', groups = function() return { 1 } end }

local calls, judged = 0, 0
local twice = derived(function(c)
  calls = calls + 1
  return { 2 * c.p }
end)
assert(twice { p = 5 }[1] == 10 and twice { p = 6 }[1] == 12) -- of no configuration
calls = 0
constraint('right', function(c) return twice(c)[1] == 2 * c.p end)
constraint('the same', function(c) return twice(c) == twice(c) end)
constraint('once', function()
  judged = judged + 1
  return calls == ({ 1, 2, 2, 3, 4 })[judged]
end)
