-- A convolution of a padded image of halves, summed in f32: for matrix units, by its definition.
local H, W, CI, CO = size("H", 28), size("W", 28), size("CI", 64), size("CO", 96)
local X, F = tensor("X", { H, W, CI }, "f16"), tensor("F", { 3, 3, CI, CO }, "f16")
local P = compute("P", { H + 2, W + 2, CI }, function(y, x, c)
  return select(y >= 1 and y < H + 1 and x >= 1 and x < W + 1, X(y - 1, x - 1, c), 0.0)
end)
output(compute("Y", { H, W, CO }, function(y, x, f)
  return sum({ { "r", 3 }, { "s", 3 }, { "c", CI } }, function(r, s, c) return P(y + r, x + s, c) * F(r, s, c, f) end)
end))
