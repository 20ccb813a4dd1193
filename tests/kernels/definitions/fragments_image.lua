-- A strided convolution of a padded image, several images, on matrix units: rows are places, columns features.
choice("units", { "device", "emulated", "khr" }, "emulated")
local type = choice("type", { "f32", "f16", "i8", "u8", "bf16", "f8e4m3", "f8e5m2" })
local X, F = tensor("X", { 2, 9, 7, 5 }, type), tensor("F", { 3, 3, 5, 12 }, type)
local zero = (type == "i8" or type == "u8") and 0 or 0.0
local P = compute("P", { 2, 11, 9, 5 }, function(n, y, x, c)
  return select(y >= 1 and y < 10 and x >= 1 and x < 8, X(n, y - 1, x - 1, c), zero)
end)
output(compute("Y", { 2, 5, 4, 12 }, function(n, y, x, f)
  return sum({ { "r", 3 }, { "s", 3 }, { "c", 5 } }, function(r, s, c) return P(n, 2 * y + r, 2 * x + s, c) * F(r, s, c, f) end)
end))
