-- tests/bench/figures/mm.lua: presets/mm.lua with each size in few factors, so that a landscape holds all of the space
local gemm, gemm_nest, matmul = include "gemm_plan.lua", include "gemm_nest.lua", include "matmul.lua"

local N, M, K = size("N", 32), size("M", 64), size("K", 64)
local product = matmul.product(operator.matmul { N = N, M = M, K = K })

param.tile_n = factors(4, 4) -- workgroups, virtual threads, invocations in twos, registers in twos (rows)
param.tile_m = factors(4, 4) -- the same for columns, invocations in fours
param.tile_k = factors(4, 3) -- tiles, steps through shared memory in fours, elements a step

local function schedule(c)
  local n, m, k = c.tile_n, c.tile_m, c.tile_k
  return {
    rows = { n[2], 2 * n[3], 2 * n[4] }, columns = { m[2], 4 * m[3], 2 * m[4] }, depth = { 4 * k[2], k[3] },
    stage_a = "double", stage_b = "double", order = { "n", "m", "k" }, unroll = 256, cut = true,
  }
end

gemm.kernels(derived(function(c) return gemm.plan(product, schedule(c)) end))
gemm_nest.declare(product, schedule)
