-- Indices that fall.
local A, B = tensor("A", { 24, 36 }), tensor("B", { 36, 20 })
output(compute("Y", { 24, 20 }, function(i, j)
  return sum({ { "k", 36 } }, function(k) return A(23 - i, 35 - k) * B(k, 19 - j) end)
end))
