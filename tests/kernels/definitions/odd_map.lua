-- A long odd one, without a reduction.
local A = tensor("A", { 251 })
output(compute("Y", { 251 }, function(i) return A(250 - i) * 2.0 end))
