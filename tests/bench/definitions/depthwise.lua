-- A depthwise convolution in the layout of operator.conv2d (nchw), 3x3 with a border of zeros.
local H, W, C = size("height", 56), size("width", 56), size("channels", 64)
local X, F = tensor("X", { C, H, W }), tensor("F", { C, 3, 3 })
local P = compute("P", { C, H + 2, W + 2 }, function(c, y, x)
  return select(y >= 1 and y < H + 1 and x >= 1 and x < W + 1, X(c, y - 1, x - 1), 0.0)
end)
output(compute("Y", { C, H, W }, function(c, y, x)
  return sum({ { "r", 3 }, { "s", 3 } }, function(r, s) return P(c, y + r, x + s) * F(c, r, s) end)
end))
