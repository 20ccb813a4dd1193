-- presets/skinny.lua: C[N,M] = A[N,K] B[K,M] with at most 16 rows or columns, one product or a batch of them: a matrix
-- times a vector or a few. The matrix is read once and hardly used, so memory decides: much is read at once, K is shared
-- by the invocations of a workgroup, which add up what they have.
local skinny, skinny_nest = include "skinny.lua", include "skinny_nest.lua"
local gemm, matmul, subgroups = include "gemm_plan.lua", include "matmul.lua", include "subgroups.lua"
local glsl, units, quads = include "glsl.lua", include "units.lua", include "quads.lua"

local product = matmul.declare({
  N = device.is_cpu and 1024 or 4096, M = 1, K = device.is_cpu and 1024 or 4096,
}, glsl.types, nil, true)
if math.min(product.N, product.M) > skinny.most then
  error("skinny takes at most " .. skinny.most .. " rows or columns of C (gemm takes any)")
end

if product.a.blocks and skinny.sides(product).name ~= "a" then
  error("the operand in blocks has the fewer lines (choose N of at least M)")
end
local api = units.choose(product)
if api then return units.declare(product, api) end

param.group   = factors(device.is_cpu and 64 or 512, 3)           -- unused, invocations along K, along the lines
param.lines   = discrete { 1, 2, 4, 8 }                           -- vectors of lines (or lines, where vectors lie along K)
param.vector  = discrete(skinny.widths(product))                  -- elements of the matrix that are read at once
param.unroll  = discrete { 1, 2, 4, 8 }                           -- vectors (or elements) along K before the loop turns
param.split_k = discrete { 1, 2, 4, 8, 16 }
local reductions = skinny.reductions(product)
if product.a.blocks and product.quads then
  param.dot = categorical { "none", "packed" }                    -- products one by one, or of four bytes at once, B as q8_1
end
if #reductions > 1 then
  param.reduce = categorical(reductions)                          -- of what invocations along K have: where it meets
end

local function schedule(c)
  return {
    group = { c.group[2], c.group[3] }, lines = c.lines, vector = c.vector, unroll = c.unroll, split_k = c.split_k,
    reduce = #reductions > 1 and c.reduce or "shared", subgroup = subgroups.size(c),
    dot = product.a.blocks and product.quads and c.dot,
  }
end

local plan = derived(function(c) return skinny.plan(product, schedule(c)) end)

constraint("whole subgroups", function(c) return c.group[2] * c.group[3] >= subgroups.least end)
constraint("unrolled steps are there", function(c) return skinny.steps_are_there(plan(c)) end)
constraint("no empty part of K", function(c) return skinny.parts_are_there(plan(c)) end)
constraint("subgroups add up", function(c) return skinny.subgroups_fit(plan(c)) end)
constraint("compiles quickly", function(c) return skinny.compiles_quickly(plan(c)) end)

quads.quantise(plan, product)
skinny.kernels(plan)
skinny_nest.declare(product, schedule)
