-- tests/bench/figures/gbfs.lua: the space of G-BFS and N-A2C: rows and columns in 4 factors, k in 2
local gemm, gemm_nest, matmul = include "gemm_plan.lua", include "gemm_nest.lua", include "matmul.lua"

local N, M, K = size("N", 1024), size("M", 1024), size("K", 1024)
local product = matmul.product(operator.matmul { N = N, M = M, K = K })

param.tile_n = factors(N, 4) -- workgroups, virtual threads, invocations, registers (rows)
param.tile_k = factors(K, 2) -- tiles, elements of a tile
param.tile_m = factors(M, 4) -- the same for columns

local function schedule(c)
  local n, m, k = c.tile_n, c.tile_m, c.tile_k
  return {
    rows = { n[2], n[3], n[4] }, columns = { m[2], m[3], m[4] }, depth = { k[2], 1 },
    stage_a = "double", stage_b = "double", order = { "n", "m", "k" }, unroll = 1024, cut = true,
  }
end

gemm.kernels(derived(function(c) return gemm.plan(product, schedule(c)) end))
gemm_nest.declare(product, schedule)
