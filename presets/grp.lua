-- presets/grp.lua: grouped convolution, by its definition (GRP of Ansor's benchmark)
local shapes, padded = include "shapes.lua", include "padded.lua"
local N, H, W, CI, CO, kernel, stride, pad, dilation, groups = shapes.of(
  { "N", "H", "W", "CI", "CO", "kernel", "stride", "pad", "dilation", "groups" }, { 1, 14, 14, 16, 32, 3, 2, 1, 1, 4 },
  { { 1, 56, 56, 64, 128, 3, 2, 1, 1, 4 }, { 1, 56, 56, 64, 64, 1, 1, 0, 1, 4 }, { 1, 14, 14, 256, 256, 3, 1, 1, 1, 4 }, { 1, 7, 7, 512, 512, 3, 1, 1, 1, 4 } })
local X, F = tensor("X", { N, H, W, CI }), tensor("F", { kernel, kernel, CI // groups, CO })
local P = padded(X, "P", { N, H, W, CI }, { 0, pad, pad, 0 })
local function out(n) return (n + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1 end
output(compute("Y", { N, out(H), out(W), CO }, function(n, y, x, f)
  return sum({ { "r", kernel }, { "s", kernel }, { "c", CI // groups } }, function(r, s, c)
    return P(n, y * stride + r * dilation, x * stride + s * dilation, f // (CO // groups) * (CI // groups) + c) * F(r, s, c, f)
  end)
end))
