-- A product of numbers that are rounded to halves as they are read: on matrix units.
choice("units", { "device", "emulated" }, "emulated")
local A, B = tensor("A", { 19, 21 }), tensor("B", { 19, 35 })
output(compute("C", { 21, 35 }, function(i, j)
  return sum({ { "k", 19 } }, function(k) return cast(A(k, i), "f16") * cast(B(k, j), "f16") end)
end))
