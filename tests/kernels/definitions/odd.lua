-- Lengths that no tile divides, and indices that fall.
local A, B = tensor("A", { 3, 23, 37 }), tensor("B", { 37, 29 })
output(compute("Y", { 3, 23, 29 }, function(b, i, j)
  return max(sum({ { "k", 37 } }, function(k) return A(b, 22 - i, 36 - k) * B(k, j) end), 0.1)
end))
