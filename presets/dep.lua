-- presets/dep.lua: depthwise convolution, by its definition (DEP of Ansor's benchmark)
local shapes, padded = include "shapes.lua", include "padded.lua"
local N, H, W, C, kernel, stride, pad = shapes.of({ "N", "H", "W", "C", "kernel", "stride", "pad" }, { 1, 28, 28, 32, 3, 1, 1 },
  { { 1, 112, 112, 32, 3, 1, 1 }, { 1, 112, 112, 64, 3, 2, 1 }, { 1, 14, 14, 512, 3, 2, 1 }, { 1, 7, 7, 1024, 3, 1, 1 } })
local X, F = tensor("X", { N, H, W, C }), tensor("F", { kernel, kernel, C })
local P = padded(X, "P", { N, H, W, C }, { 0, pad, pad, 0 })
local function out(n) return (n + 2 * pad - kernel) // stride + 1 end
output(compute("Y", { N, out(H), out(W), C }, function(n, y, x, c)
  return sum({ { "r", kernel }, { "s", kernel } }, function(r, s) return P(n, y * stride + r, x * stride + s, c) * F(r, s, c) end)
end))
