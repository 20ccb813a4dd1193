-- presets/gemm.lua: C[N,M] = A[N,K] B[K,M], everything a hand-written kernel would choose from
local matmul = include "matmul.lua"

local standard = device.is_cpu and 256 or 2048
local N, M, K = size("N", standard), size("M", standard), size("K", standard)
local problem = operator.matmul {
  N = N, M = M, K = K, type = choice("type", { "f32", "f16" }), layout = choice("layout", { "nn", "nt", "tn", "tt" }),
}

-- Budgets, not sizes: the first part is what is left out, so that any size can be tiled and few points ask too much.
param.threads   = factors(device.is_cpu and 8 or 32, 3)   -- unused, rows, columns in eights
param.registers = factors(128, 5)                         -- unused, virtual and neighbouring rows, the same for columns
param.tile_k    = factors(device.is_cpu and 16 or 32, 3)  -- unused, steps through shared memory, elements a step

param.stage_a = categorical(matmul.stages)
param.stage_b = categorical(matmul.stages)
param.pad     = discrete { 0, 1, 2, 4 }                   -- after each line of a shared tile, if any, in vectors

param.vector_a = discrete(matmul.widths(problem, "a"))
param.vector_b = discrete(matmul.widths(problem, "b"))

param.order    = permutation { "n", "m", "k" }            -- inner loops, outermost first
param.unroll   = discrete { 0, 128, 512, 2048 }           -- products written out at most
param.explicit = categorical { "hint", "copies" }
param.split_k  = discrete { 1, 2, 4, 8 }
param.walk     = custom(matmul.walks)

local function plan(c)
  local t, r = c.threads, c.registers
  return matmul.plan(problem, {
    rows = { r[2], t[2], r[3] }, columns = { r[4], 8 * t[3], r[5] }, depth = { c.tile_k[2], c.tile_k[3] },
    stage_a = c.stage_a, stage_b = c.stage_b, vector_a = c.vector_a, vector_b = c.vector_b,
    pad = c.pad, order = c.order, unroll = c.unroll, explicit = c.explicit == "copies",
    walk = c.walk, split_k = c.split_k,
  })
end

constraint("vectors divide what is loaded", function(c) return matmul.vectors_fit(plan(c)) end)
constraint("a tile ahead fits registers", function(c) return matmul.next_tile_fits(plan(c)) end)
constraint("only what is shared is staged", function(c) return matmul.staging_pays(plan(c)) end)
constraint("whole subgroups", function(c) return 8 * c.threads[2] * c.threads[3] >= device.subgroup_size end)
constraint("compiles quickly", function(c) return matmul.compiles_quickly(plan(c)) end)
constraint("no empty part of K", function(c) return c.tile_k[2] * c.tile_k[3] * (c.split_k - 1) < K end)

matmul.kernels(plan)
