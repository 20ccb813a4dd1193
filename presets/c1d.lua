-- presets/c1d.lua: 1-d convolution, by its definition (C1D of Ansor's benchmark)
local shapes, padded = include "shapes.lua", include "padded.lua"
local N, L, CI, CO, kernel, stride, pad = shapes.of({ "N", "L", "CI", "CO", "kernel", "stride", "pad" }, { 1, 32, 16, 32, 3, 2, 1 },
  { { 1, 256, 64, 128, 3, 2, 1 }, { 1, 128, 128, 256, 1, 2, 0 }, { 1, 64, 256, 256, 5, 1, 2 }, { 1, 32, 512, 512, 3, 1, 1 } })
local X, F = tensor("X", { N, L, CI }), tensor("F", { kernel, CI, CO })
local P = padded(X, "P", { N, L, CI }, { 0, pad, 0 })
output(compute("Y", { N, (L + 2 * pad - kernel) // stride + 1, CO }, function(n, x, f)
  return sum({ { "s", kernel }, { "c", CI } }, function(s, c) return P(n, x * stride + s, c) * F(s, c, f) end)
end))
