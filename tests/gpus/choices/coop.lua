-- One schedule of gemm_coop.comp, its choices given by --set: 2 x 2 subgroups, 2 x 2 fragments each of the first shape that
-- the device lists, two fragments along K a tile.
local coop, matmul, gemm = include "coop.lua", include "matmul.lua", include "gemm_plan.lua"
local matrix_units, glsl, subgroups = include "matrix_units.lua", include "glsl.lua", include "subgroups.lua"

local product = matmul.declare(size("size", 2048), { "f16", "i8", "bf16", "f8e4m3", "f8e5m2" })
local op = product.op
local shape = matrix_units.shapes(device.matrix_api, op.type, glsl.sums(op))[1]
local stage, skew, steps = choice("stage", coop.stages), size("skew", 0, 0), size("steps", 2)
local halves, store = choice("halves", coop.halves), choice("store", coop.stores(device.matrix_api))
local rows, columns = size("rows", 2), size("columns", 2) -- fragments of a subgroup
local down, across = size("down", 2), size("across", 2)   -- subgroups
local transpose = choice("transpose", coop.transposes)

local function widest(place, extent) return coop.widest(place, op.type, extent, shape.k) end

param.only = discrete { 1 }
local plan = derived(function()
  return coop.plan(product, {
    shape = shape, api = device.matrix_api, rows = { down, rows }, columns = { across, columns }, steps = steps, stage = stage,
    halves = halves, store = store, transpose = transpose, skew = skew, vector_a = widest(product.a, shape.m), vector_b = widest(product.b, shape.n),
    split_k = 1, walk = "rows", lanes = subgroups.least,
  })
end)
constraint("a tile ahead fits registers", function(c) return coop.next_tile_fits(plan(c)) end)
constraint("what is not staged is whole", function(c) return coop.fragments_are_whole(plan(c)) end)
constraint("what is stored straight is whole", function(c) return coop.stored_fragments_are_whole(plan(c)) end)
constraint("units hold what is stored", function(c) return coop.units_hold_what_is_stored(plan(c)) end)
coop.kernels(plan)
