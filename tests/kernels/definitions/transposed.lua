-- What is stored is not where it was computed.
local A = tensor("A", { 64, 128 })
local m = compute("m", { 64 }, function(i) return min({ { "k", 128 } }, function(k) return A(i, k) end) end)
output(compute("Y", { 128, 64 }, function(j, i) return A(i, j) - m(i) end))
