-- One schedule of gemm.comp, its choices given by --set: 64 rows and 128 columns a workgroup, 8 x 8 an invocation, eight
-- elements of K a step, also of four bytes each.
local gemm, matmul, subgroups = include "gemm_plan.lua", include "matmul.lua", include "subgroups.lua"

local product = matmul.declare(size("size", 2048), { "f32", "f16", "i8" }, gemm.accumulate)
local lanes, dot = size("lanes", 0, 0), choice("dot", { "none", "packed" })
local ends, edges = choice("ends", { "guarded", "apart" }), choice("edges", { "guarded", "shifted" })
local fragments, stage = choice("fragments", { "late", "early" }), choice("stage", { "shared", "prefetch", "double" })
local swizzle, pad = choice("swizzle", { "none", "xor" }), size("pad", 0, 0)
local widen, vector = choice("widen", gemm.widens), size("vector", 0, 0) -- 0: as wide as can be, up to 4
local tile, step = size("tile", 8), size("step", 8) -- elements of K
local width = vector > 0 and vector or nil

param.only = discrete { 1 }
local plan = derived(function()
  return gemm.plan(product, {
    rows = { 2, 8, 4 }, columns = { 2, 16, 4 }, depth = { tile // step, step }, stage_a = stage, stage_b = stage,
    order = { "k", "n", "m" }, unroll = 64 * tile, explicit = "copies", lanes = lanes, dot = dot, ends = ends, edges = edges,
    fragments = fragments, swizzle = swizzle, pad = pad, widen = widen, vector_a = width, vector_b = width,
    subgroup = subgroups.least,
  })
end)
gemm.kernels(plan)
