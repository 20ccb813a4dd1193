-- presets/c3d.lua: 3-d convolution, by its definition (C3D of Ansor's benchmark)
local shapes, padded = include "shapes.lua", include "padded.lua"
local N, D, H, W, CI, CO, kernel, stride, pad = shapes.of({ "N", "D", "H", "W", "CI", "CO", "kernel", "stride", "pad" }, { 1, 4, 7, 7, 8, 16, 3, 1, 1 },
  { { 1, 16, 224, 224, 3, 64, 7, 2, 3 }, { 1, 16, 56, 56, 64, 64, 1, 1, 0 }, { 1, 16, 14, 14, 256, 256, 3, 1, 1 }, { 1, 16, 7, 7, 512, 512, 3, 1, 1 } })
local X, F = tensor("X", { N, D, H, W, CI }), tensor("F", { kernel, kernel, kernel, CI, CO })
local P = padded(X, "P", { N, D, H, W, CI }, { 0, pad, pad, pad, 0 })
local function out(n) return (n + 2 * pad - kernel) // stride + 1 end
output(compute("Y", { N, out(D), out(H), out(W), CO }, function(n, z, y, x, f)
  return sum({ { "q", kernel }, { "r", kernel }, { "s", kernel }, { "c", CI } }, function(q, r, s, c)
    return P(n, z * stride + q, y * stride + r, x * stride + s, c) * F(q, r, s, c, f)
  end)
end))
