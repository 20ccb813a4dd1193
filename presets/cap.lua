-- presets/cap.lua: capsule convolution, whose points are 4x4 matrices, by its definition (CAP of Ansor's benchmark)
local shapes, padded = include "shapes.lua", include "padded.lua"
local N, H, W, CI, CO, kernel, stride, pad = shapes.of({ "N", "H", "W", "CI", "CO", "kernel", "stride", "pad" }, { 1, 4, 4, 4, 8, 3, 2, 1 },
  { { 1, 16, 16, 32, 32, 3, 2, 1 }, { 1, 8, 8, 32, 32, 3, 1, 1 }, { 1, 16, 16, 8, 16, 3, 2, 1 }, { 1, 8, 8, 16, 16, 3, 1, 1 } })
local X, F = tensor("X", { N, H, W, 4, 4, CI }), tensor("F", { kernel, kernel, 4, 4, CI, CO })
local P = padded(X, "P", { N, H, W, 4, 4, CI }, { 0, pad, pad, 0, 0, 0 })
local function out(n) return (n + 2 * pad - kernel) // stride + 1 end
output(compute("Y", { N, out(H), out(W), 4, 4, CO }, function(n, y, x, i, j, f)
  return sum({ { "r", kernel }, { "s", kernel }, { "k", 4 }, { "c", CI } }, function(r, s, k, c)
    return P(n, y * stride + r, x * stride + s, i, k, c) * F(r, s, k, j, c, f)
  end)
end))
