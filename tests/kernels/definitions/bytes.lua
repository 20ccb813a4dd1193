-- Bytes with wide sums: 64 products of -4 to 4 leave a byte.
local A, B = tensor("A", { 12, 64 }, "i8"), tensor("B", { 64, 16 }, "i8")
output(compute("Y", { 12, 16 }, function(i, j) return sum({ { "k", 64 } }, function(k) return A(i, k) * B(k, j) end) end))
