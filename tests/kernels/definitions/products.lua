-- A product of products: what is handed on is read from copies, too.
local A, B = tensor("A", { 16, 32 }), tensor("B", { 32, 16 })
local C = compute("C", { 16, 16 }, function(i, j) return sum({ { "k", 32 } }, function(k) return A(i, k) * B(k, j) end) end)
output(compute("Y", { 16, 16 }, function(i, j) return sum({ { "k", 16 } }, function(k) return C(i, k) * C(k, j) end) end))
