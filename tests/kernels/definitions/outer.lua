-- Tiles without a reduction.
local A, B = tensor("A", { 16 }), tensor("B", { 24 })
output(compute("Y", { 16, 24 }, function(i, j) return A(i) * B(j) end))
