-- presets/c2d.lua: 2-d convolution, by its definition (C2D of Ansor's benchmark)
local shapes, padded = include "shapes.lua", include "padded.lua"
local N, H, W, CI, CO, kernel, stride, pad = shapes.of({ "N", "H", "W", "CI", "CO", "kernel", "stride", "pad" }, { 1, 14, 14, 16, 32, 3, 1, 1 },
  { { 1, 224, 224, 3, 64, 7, 2, 3 }, { 1, 56, 56, 64, 64, 1, 1, 0 }, { 1, 14, 14, 256, 256, 3, 1, 1 }, { 1, 7, 7, 512, 512, 3, 1, 1 } })
local X, F = tensor("X", { N, H, W, CI }), tensor("F", { kernel, kernel, CI, CO })
local P = padded(X, "P", { N, H, W, CI }, { 0, pad, pad, 0 })
local function out(n) return (n + 2 * pad - kernel) // stride + 1 end
output(compute("Y", { N, out(H), out(W), CO }, function(n, y, x, f)
  return sum({ { "r", kernel }, { "s", kernel }, { "c", CI } }, function(r, s, c)
    return P(n, y * stride + r, x * stride + s, c) * F(r, s, c, f)
  end)
end))
