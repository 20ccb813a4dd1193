-- One schedule of gemm_coop.comp, its choices given by --set: 2 x 2 subgroups, 2 x 2 fragments each of the first shape that
-- the device lists, two fragments along K a tile.
local coop, matmul, gemm = include "coop.lua", include "matmul.lua", include "gemm_plan.lua"
local matrix_units, glsl, subgroups = include "matrix_units.lua", include "glsl.lua", include "subgroups.lua"

local product = matmul.declare(size("size", 2048), { "f16", "i8" })
local op = product.op
local shape = matrix_units.shapes(device.matrix_api, op.type, glsl.sums(op))[1]
local stage, skew, steps = choice("stage", coop.stages), size("skew", 0, 0), size("steps", 2)
local halves = choice("halves", coop.halves)
local rows, columns = size("rows", 2), size("columns", 2) -- fragments of a subgroup
local widths_a, widths_b = coop.widths(product.a, op.type), coop.widths(product.b, op.type)

param.only = discrete { 1 }
local plan = derived(function()
  return coop.plan(product, {
    shape = shape, api = device.matrix_api, rows = { 2, rows }, columns = { 2, columns }, steps = steps, stage = stage, halves = halves,
    skew = skew, vector_a = widths_a[#widths_a], vector_b = widths_b[#widths_b], split_k = 1, walk = "rows",
    lanes = subgroups.least,
  })
end)
constraint("vectors divide fragments", function(c) return coop.vectors_fit(plan(c)) end)
constraint("a tile ahead fits registers", function(c) return coop.next_tile_fits(plan(c)) end)
constraint("what is not staged is whole", function(c) return coop.fragments_are_whole(plan(c)) end)
coop.kernels(plan)
