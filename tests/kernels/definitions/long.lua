-- A long product of few numbers, of what is computed as it is read.
local A, B = tensor("A", { 16, 512 }), tensor("B", { 512, 4 })
local R = compute("R", { 16, 512 }, function(i, k) return max(A(i, k), 0.0) end)
output(compute("Y", { 16, 4 }, function(i, j)
  return product({ { "k", 512 } }, function(k) return 1.0 + R(i, k) * B(k, j) * 0.001 end)
end))
