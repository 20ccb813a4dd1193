-- Halves with wide sums, stored as halves; the second matrix is turned.
local A, B = tensor("A", { 16, 32 }, "f16"), tensor("B", { 24, 32 }, "f16")
output(compute("Y", { 16, 24 }, function(i, j)
  return cast(sum({ { "k", 32 } }, function(k) return A(i, k) * B(j, k) end), "f16")
end))
