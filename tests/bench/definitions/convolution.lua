-- A convolution of images in the layout of operator.conv2d (nchw), 3x3 with a border of zeros.
local H, W, CI, CO = size("height", 28), size("width", 28), size("in_channels", 32), size("out_channels", 32)
local X, F = tensor("X", { CI, H, W }), tensor("F", { CO, CI, 3, 3 })
local P = compute("P", { CI, H + 2, W + 2 }, function(c, y, x)
  return select(y >= 1 and y < H + 1 and x >= 1 and x < W + 1, X(c, y - 1, x - 1), 0.0)
end)
output(compute("Y", { CO, H, W }, function(f, y, x)
  return sum({ { "c", CI }, { "r", 3 }, { "s", 3 } }, function(c, r, s) return P(c, y + r, x + s) * F(f, c, r, s) end)
end))
