-- presets/winograd.lua: 2-d convolution by 3 x 3 as Winograd computes it, F(2 x 2, 3 x 3), by its definition: tiles of 4 x 4
-- inputs overlap and make 2 x 2 outputs. U are the filters, transformed: G g G', G = { 1 0 0 / .5 .5 .5 / .5 -.5 .5 / 0 0 1 }
-- With type=f16 the transformed tiles are rounded to halves, for products on matrix units.
local shapes, padded = include "shapes.lua", include "padded.lua"
local N, H, W, CI, CO, pad = shapes.of({ "N", "H", "W", "CI", "CO", "pad" }, { 1, 14, 14, 16, 32, 1 },
  { { 1, 56, 56, 64, 64, 1 }, { 1, 28, 28, 128, 128, 1 }, { 1, 14, 14, 256, 256, 1 }, { 1, 7, 7, 512, 512, 1 } })
local type = choice("type", { "f32", "f16" })
choice("units", { "auto", "khr", "nv", "emulated", "none" })
local function rounded(x) return type == "f16" and cast(x, type) or x end
local B = constant { { 1, 0, 0, 0 }, { 0, 1, -1, 1 }, { -1, 1, 1, 0 }, { 0, 0, 0, -1 } }
local A = constant { { 1, 0 }, { 1, 1 }, { 1, -1 }, { 0, -1 } }
local X, U = tensor("X", { N, H, W, CI }, type), tensor("U", { 4, 4, CI, CO }, type)
local OH, OW = H + 2 * pad - 2, W + 2 * pad - 2
local rows, columns = (OH + 1) // 2, (OW + 1) // 2
local P = padded(X, "P", { N, H, W, CI }, { 0, pad, pad, 0 })
local T = compute("T", { 4, 4, N * rows * columns, CI }, function(i, j, p, c)
  local y, x = p // columns % rows * 2 + i, p % columns * 2 + j
  return select(y < H + 2 * pad and x < W + 2 * pad, P(p // (rows * columns), y, x, c), 0.0)
end)
local V = compute("V", { 4, 4, N * rows * columns, CI }, function(i, j, p, c)
  return rounded(sum({ { "a", 4 }, { "b", 4 } }, function(a, b) return T(a, b, p, c) * B(a, i) * B(b, j) end))
end)
local M = compute("M", { 4, 4, N * rows * columns, CO }, function(i, j, p, f)
  return sum({ { "c", CI } }, function(c) return V(i, j, p, c) * U(i, j, c, f) end)
end)
local Z = compute("Z", { 2, 2, N * rows * columns, CO }, function(i, j, p, f)
  return sum({ { "a", 4 }, { "b", 4 } }, function(a, b) return M(a, b, p, f) * A(a, i) * A(b, j) end)
end)
output(compute("Y", { N, OH, OW, CO }, function(n, y, x, f)
  return rounded(Z(y % 2, x % 2, (n * rows + y // 2) * columns + x // 2, f))
end))
