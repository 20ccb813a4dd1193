-- tests/bench/figures/bmm.lua: presets/bmm.lua with each size in few factors
local gemm, gemm_nest, matmul = include "gemm_plan.lua", include "gemm_nest.lua", include "matmul.lua"

local batch, N, M, K = size("batch", 12), size("N", 32), size("M", 16), size("K", 32)
local product = matmul.product(operator.batch_matmul {
  batch = batch, N = N, M = M, K = K, layout = choice("layout", { "nn", "nt", "tn" }),
})

param.tile_b = factors(4, 2) -- workgroups, matrices of a workgroup
param.tile_k = factors(2, 3) -- tiles, steps through shared memory in fours, elements a step
param.tile_n = factors(4, 4) -- workgroups, virtual threads, invocations in twos, registers in twos (rows)
param.tile_m = factors(2, 4) -- the same for columns, invocations in fours

local function schedule(c)
  local n, m, k = c.tile_n, c.tile_m, c.tile_k
  return {
    rows = { n[2], 2 * n[3], 2 * n[4] }, columns = { m[2], 4 * m[3], m[4] }, depth = { 4 * k[2], k[3] },
    together = c.tile_b[2], stage_a = "double", stage_b = "double", order = { "n", "m", "k" }, unroll = 256, cut = true,
  }
end

gemm.kernels(derived(function(c) return gemm.plan(product, schedule(c)) end))
gemm_nest.declare(product, schedule)
