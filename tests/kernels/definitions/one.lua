-- One number.
local A = tensor("A", { 64, 64 })
output(compute("Y", { 1 }, function(i) return sum({ { "a", 64 }, { "b", 64 } }, function(a, b) return A(a, b) end) end))
