-- Choices by what is read.
local A, B = tensor("A", { 32, 48 }), tensor("B", { 48, 32 })
output(compute("Y", { 32, 32 }, function(i, j)
  return sum({ { "k", 48 } }, function(k) return select(A(i, k) < B(k, j), A(i, k), B(k, j)) end)
end))
