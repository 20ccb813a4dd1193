-- presets/cbr.lua: convolution, batch norm and relu, by their definition (CBR, the ConvLayer of Ansor's benchmark)
local shapes, padded = include "shapes.lua", include "padded.lua"
local N, H, W, CI, CO, kernel, stride, pad = shapes.of({ "N", "H", "W", "CI", "CO", "kernel", "stride", "pad" }, { 1, 14, 14, 16, 32, 3, 2, 1 },
  { { 1, 224, 224, 3, 64, 7, 2, 3 }, { 1, 56, 56, 64, 128, 3, 2, 1 }, { 1, 28, 28, 128, 256, 1, 2, 0 }, { 1, 7, 7, 512, 512, 3, 1, 1 } })
local X, F = tensor("X", { N, H, W, CI }), tensor("F", { kernel, kernel, CI, CO })
local scale, shift = tensor("scale", { CO }), tensor("shift", { CO })
local P = padded(X, "P", { N, H, W, CI }, { 0, pad, pad, 0 })
local function out(n) return (n + 2 * pad - kernel) // stride + 1 end
output(compute("Y", { N, out(H), out(W), CO }, function(n, y, x, f)
  local all = sum({ { "r", kernel }, { "s", kernel }, { "c", CI } }, function(r, s, c)
    return P(n, y * stride + r, x * stride + s, c) * F(r, s, c, f)
  end)
  return max(all * scale(f) + shift(f), 0.0)
end))
