-- Neighbours that begin at no multiple: one, two and a half vectors into a line.
local A, B, D = tensor("A", { 16, 20 }), tensor("B", { 16, 20 }), tensor("D", { 18 })
output(compute("Y", { 8, 16 }, function(i, j)
  return sum({ { "k", 16 } }, function(k) return A(k, j + 4) * B(i, k) + A(k, j + 1) * B(i, k + 2) + A(k, j + 2) end) * D(j + 2)
end))
