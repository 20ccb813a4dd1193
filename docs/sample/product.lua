-- product.comp as it is, for any sizes: its specialization constants are what is tuned.
local N, M, K = size("N", 128), size("M", 128), size("K", 128)

operator.matmul { N = N, M = M, K = K, type = "f32", layout = "nn" }

param.columns = discrete { 4, 8, 16, 32, 64 }
param.groups  = discrete { 1, 2, 4, 8 }
param.rows    = discrete { 1, 2, 4, 8 }

resources(function(c) return {
  invocations = { c.columns, c.groups },
  groups = { (M + c.columns - 1) // c.columns, (N + c.groups * c.rows - 1) // (c.groups * c.rows) },
} end)

kernel {
  shader = "product.comp",
  spec   = function(c) return { [0] = c.columns, [1] = c.groups, [2] = c.rows } end,
  push   = function(c) return { N, M, K } end,
}
