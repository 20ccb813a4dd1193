-- presets/mm.lua: C[N,M] = A[N,K] B[K,M] over the three factorizations of the OpEvo paper, and nothing else
local gemm, gemm_nest, matmul = include "gemm_plan.lua", include "gemm_nest.lua", include "matmul.lua"

local N, M, K = size("N", 512), size("M", 1024), size("K", 1024) -- tilewalk tune mm --set N=4096
local product = matmul.product(operator.matmul {
  N = N, M = M, K = K,
  type = choice("type", { "f32", "f16", "i8" }), layout = choice("layout", { "nn", "nt", "tn", "tt" }),
})

param.tile_n = factors(N, 4) -- workgroups, virtual threads, invocations, registers (rows)
param.tile_m = factors(M, 4) -- the same for columns
param.tile_k = factors(K, 3) -- tiles, steps through shared memory, elements a step

-- The paper's schedule for the rest: both operands through doubled shared tiles, steps unrolled, k innermost.
local function schedule(c)
  local n, m, k = c.tile_n, c.tile_m, c.tile_k
  return {
    rows = { n[2], n[3], n[4] }, columns = { m[2], m[3], m[4] }, depth = { k[2], k[3] },
    stage_a = "double", stage_b = "double", order = { "n", "m", "k" }, unroll = 1024, cut = true,
  }
end

gemm.kernels(derived(function(c) return gemm.plan(product, schedule(c)) end))
gemm_nest.declare(product, schedule)
