-- presets/gemm.lua: C[N,M] = A[N,K] B[K,M], one product or a batch of them, everything a hand-written kernel would
-- choose from
local gemm, rules, matmul = include "gemm_plan.lua", include "gemm_rules.lua", include "matmul.lua"
local glsl, units = include "glsl.lua", include "units.lua"

local product = matmul.declare(device.is_cpu and 256 or 2048, glsl.types, gemm.accumulate, true)

local api = units.choose(product)
if api then return units.declare(product, api) end

-- Budgets, not sizes: the first part is what is left out, so that any size can be tiled and few points ask too much.
param.threads   = factors(device.is_cpu and 8 or 32, 3)   -- unused, rows, columns in eights
param.registers = factors(128, 5)                         -- unused, virtual and neighbouring rows, the same for columns
param.tile_k    = factors(device.is_cpu and 16 or 32, 3)  -- unused, steps through shared memory, elements a step

param.stage_a = categorical(gemm.stages)
param.stage_b = categorical(gemm.stages)
param.pad     = discrete { 0, 1, 2, 4 }                   -- after each line of a shared tile, if any, in vectors

param.vector_a = discrete(gemm.widths(product.a))
param.vector_b = discrete(gemm.widths(product.b))

param.order    = permutation { "n", "m", "k" }            -- inner loops, outermost first
param.unroll   = discrete { 0, 128, 512, 2048 }           -- products written out at most
param.explicit = categorical { "hint", "copies" }
param.split_k  = discrete { 1, 2, 4, 8 }
param.walk     = custom(gemm.walks)
if product.matrices > 1 then
  param.together = discrete { 1, 2 }                      -- matrices of a workgroup
end

rules.offer(product)
rules.declare(product)
rules.begin(product)
