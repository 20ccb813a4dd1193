-- Floats that GLSL does not know, and bytes without a sign.
local A, B = tensor("A", { 12, 64 }, "bf16"), tensor("B", { 64, 16 }, "f8e4m3")
local c, d = tensor("c", { 16 }, "f8e5m2"), tensor("d", { 12 }, "u8")
output(compute("Y", { 12, 16 }, function(i, j)
  return c(j) * d(i) + sum({ { "k", 64 } }, function(k) return A(i, k) * B(k, j) end)
end))
