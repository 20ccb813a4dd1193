-- A convolution of a padded image, summed in f32 (bytes: in 32 bits): for matrix units, by its definition.
local H, W, CI, CO = size("H", 28), size("W", 28), size("CI", 64), size("CO", 96)
local type = choice("type", { "f16", "bf16", "f8e4m3", "f8e5m2", "u8", "i8" })
choice("units", { "auto", "khr", "nv", "emulated", "none" })
local X, F = tensor("X", { H, W, CI }, type), tensor("F", { 3, 3, CI, CO }, type)
local nothing = (type == "u8" or type == "i8") and 0 or 0.0
local P = compute("P", { H + 2, W + 2, CI }, function(y, x, c)
  return select(y >= 1 and y < H + 1 and x >= 1 and x < W + 1, X(y - 1, x - 1, c), nothing)
end)
output(compute("Y", { H, W, CO }, function(y, x, f)
  return sum({ { "r", 3 }, { "s", 3 }, { "c", CI } }, function(r, s, c) return P(y + r, x + s, c) * F(r, s, c, f) end)
end))
