-- Whole numbers have whole sums.
local A, B = tensor("A", { 24, 36 }, "i32"), tensor("B", { 36, 20 }, "i32")
output(compute("Y", { 24, 20 }, function(i, j) return sum({ { "k", 36 } }, function(k) return A(i, k) * B(k, j) end) end))
