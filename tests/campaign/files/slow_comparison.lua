-- Steps that each take very long.
operator.matmul { N = 8, M = 8, K = 8 }
param.p = factors(8, 2)
local a, b = string.rep("x", 1000000), string.rep("x", 1000000 - 1) .. "y"
constraint("slow", function(c)
  for i = 1, 100000 do if a == b or a < b == false then return false end end
  return true
end)
kernel { template = "plain.comp", groups = function() return { 1 } end }
