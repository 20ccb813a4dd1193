-- A product whose rows are chosen by their own numbers and by those of another tensor, with ones in some places: on matrix units.
choice("units", { "device", "emulated", "khr" }, "emulated")
local type = choice("type", { "bf16", "f16", "f8e4m3", "f8e5m2" })
local A, B = tensor("A", { 13, 27 }, type), tensor("B", { 27, 18 }, type)
local row = tensor("row", { 13 }, "i32")
local chosen = compute("chosen", { 13, 27 }, function(i, k)
  return select(A(i, k) < 0.5, cast(A(i, 26 - k), "f32"), select(i < 4 and k > 2, 1, A(max(0, min(12 - row(i), 12)), k)))
end)
output(compute("Y", { 13, 18 }, function(i, j) return sum({ { "k", 27 } }, function(k) return chosen(i, k) * B(k, j) end) end))
