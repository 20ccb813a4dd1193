-- presets/t2d.lua: transposed convolution, by its definition (T2D of Ansor's benchmark): that of an image with zeros between its
-- points and around it
local shapes = include "shapes.lua"
local N, H, W, CI, CO, kernel, stride, pad = shapes.of({ "N", "H", "W", "CI", "CO", "kernel", "stride", "pad" }, { 1, 4, 4, 16, 16, 4, 2, 1 },
  { { 1, 4, 4, 512, 256, 4, 2, 1 }, { 1, 8, 8, 256, 128, 4, 2, 1 }, { 1, 16, 16, 128, 64, 4, 2, 1 }, { 1, 32, 32, 64, 3, 4, 2, 1 } })
local X, F = tensor("X", { N, H, W, CI }), tensor("F", { kernel, kernel, CI, CO })
local edge = kernel - 1 - pad
local function wide(n) return (n - 1) * stride + 1 + 2 * edge end
local function hit(i, n) return i >= edge and i <= (n - 1) * stride + edge and equal((i - edge) % stride, 0) end
local P = compute("P", { N, wide(H), wide(W), CI }, function(n, y, x, c)
  return hit(y, H) and hit(x, W) and X(n, (y - edge) // stride, (x - edge) // stride, c) or 0.0
end)
output(compute("Y", { N, wide(H) - kernel + 1, wide(W) - kernel + 1, CO }, function(n, y, x, f)
  return sum({ { "r", kernel }, { "s", kernel }, { "c", CI } }, function(r, s, c)
    return P(n, y + r, x + s, c) * F(kernel - 1 - r, kernel - 1 - s, c, f)
  end)
end))
