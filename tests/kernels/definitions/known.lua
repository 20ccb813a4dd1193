-- Constant tensors: chosen from by whole numbers, read under a choice, twice, of one number, by a maximum, with a relu behind
local A, K = tensor("A", { 6, 3, 10 }), tensor("K", { 3, 10 }, "i8")
local B, one = constant { { 0.5, -1.0, 0.0 }, { 1.0, 2.0, -0.25 } }, constant { 3 }
local T = compute("T", { 6, 3, 10 }, function(n, i, k) return select(n + i > 2, A((n + i) % 6, i, k), 1.5) + A(n, i, k) end)
local V = compute("V", { 6, 2, 10 }, function(n, i, k)
  return sum({ { "a", 3 } }, function(a) return T(n, a, k) * B(i, a) + select(a < 2, A(n, a + 1, k), 0.25) end)
end)
local W = compute("W", { 6, 2 }, function(n, i)
  return max({ { "a", 3 }, { "b", 2 } }, function(a, b) return V(n, b, a) * B(b, a) * B(i, 2 - a) * one(0) + K(a, 3) end)
end)
output(compute("Y", { 6, 2 }, function(n, i) return max(W(n, i), 0.0) + V(n, i, 9) end))
