-- A batch of products of bytes, one of them turned, and a second product of what comes out: on matrix units.
choice("units", { "device", "emulated" }, "emulated")
local A, B = tensor("A", { 3, 12, 24 }, "i8"), tensor("B", { 3, 10, 24 }, "i8")
local C = compute("C", { 3, 12, 10 }, function(b, i, j) return sum({ { "k", 24 } }, function(k) return A(b, i, k) * B(b, j, k) end) end)
output(compute("Y", { 3, 12, 10 }, function(b, i, j) return C(b, i, j) * 2 - j end))
