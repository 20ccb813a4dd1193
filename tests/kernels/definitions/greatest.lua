-- The greatest of whole numbers.
local A = tensor("A", { 30, 40 }, "i32")
output(compute("Y", { 30 }, function(i) return max({ { "k", 40 } }, function(k) return A(i, k) end) end))
