-- A product of odd sizes, its factors read across their lines, and what becomes of it: on matrix units.
choice("units", { "device", "emulated", "khr" }, "emulated")
local type = choice("type", { "f16", "i8", "u8", "bf16", "f8e4m3", "f8e5m2" })
local A, B, c = tensor("A", { 19, 21 }, type), tensor("B", { 19, 35 }, type), tensor("c", { 35 })
local C = compute("C", { 21, 35 }, function(i, j) return sum({ { "k", 19 } }, function(k) return A(k, i) * B(k, j) end) end)
output(compute("Y", { 21, 35 }, function(i, j) return max(C(i, j) + c(j), 0.0) end))
