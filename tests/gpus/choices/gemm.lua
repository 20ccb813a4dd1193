-- One schedule of gemm.comp, its choices given by --set: 64 rows and 128 columns a workgroup, 8 x 8 an invocation, eight
-- elements of K a step, also of four bytes each.
local gemm, matmul, subgroups = include "gemm_plan.lua", include "matmul.lua", include "subgroups.lua"

local product = matmul.declare(size("size", 2048), { "f32", "f16", "i8" })
local lanes, dot = size("lanes", 0, 0), choice("dot", { "none", "packed" })
local ends = choice("ends", { "guarded", "apart" })

param.only = discrete { 1 }
local plan = derived(function()
  return gemm.plan(product, {
    rows = { 2, 8, 4 }, columns = { 2, 16, 4 }, depth = { 1, 8 }, stage_a = "shared", stage_b = "shared",
    order = { "k", "n", "m" }, unroll = 512, lanes = lanes, dot = dot, ends = ends, subgroup = subgroups.least,
  })
end)
gemm.kernels(plan)
