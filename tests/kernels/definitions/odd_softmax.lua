-- Odd reductions, shared or not.
local A = tensor("A", { 11, 251 })
local top = compute("top", { 11 }, function(i) return max({ { "k", 251 } }, function(k) return A(i, k) end) end)
local E = compute("E", { 11, 251 }, function(i, k) return exp(A(i, k) - top(i)) end)
output(compute("Y", { 11, 251 }, function(i, j) return E(i, j) / sum({ { "k", 251 } }, function(k) return E(i, k) end) end))
