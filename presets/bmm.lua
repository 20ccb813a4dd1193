-- presets/bmm.lua: C[N,M] = A[N,K] B[K,M] for each of a batch, over the four factorizations of the OpEvo paper, and
-- nothing else
local gemm, gemm_nest, matmul = include "gemm_plan.lua", include "gemm_nest.lua", include "matmul.lua"
local glsl, units = include "glsl.lua", include "units.lua"

local batch, N, M, K = size("batch", 960), size("N", 128), size("M", 64), size("K", 128)
local product = matmul.product(operator.batch_matmul {
  batch = batch, N = N, M = M, K = K,
  type = choice("type", glsl.types), layout = choice("layout", { "nn", "nt", "tn", "tt" }),
})

local api = units.choose(product)
if api then return units.declare(product, api) end

param.tile_b = factors(batch, 2) -- workgroups, matrices of a workgroup
param.tile_k = factors(K, 3)     -- tiles, steps through shared memory, elements a step
param.tile_n = factors(N, 4)     -- workgroups, virtual threads, invocations, registers (rows)
param.tile_m = factors(M, 4)     -- the same for columns

-- The paper's schedule for the rest, as in mm.lua. An invocation helps to load the tiles of its own matrix only.
local function schedule(c)
  local n, m, k = c.tile_n, c.tile_m, c.tile_k
  return {
    rows = { n[2], n[3], n[4] }, columns = { m[2], m[3], m[4] }, depth = { k[2], k[3] }, together = c.tile_b[2],
    stage_a = "double", stage_b = "double", order = { "n", "m", "k" }, unroll = 1024, cut = true,
  }
end

gemm.kernels(derived(function(c) return gemm.plan(product, schedule(c)) end))
gemm_nest.declare(product, schedule)
