-- presets/gemm-coop.lua: C[N,M] = A[N,K] B[K,M] with matrix units (cooperative matrices) of the device, or with an
-- emulation of them that shows that the kernels are right and nothing about speed: --set units=emulated
local matmul, coop, gemm = include "matmul.lua", include "coop.lua", include "gemm_plan.lua"
local coop_nest = include "coop_nest.lua"
local matrix_units, glsl, subgroups = include "matrix_units.lua", include "glsl.lua", include "subgroups.lua"

local api = choice("units", { "device", "emulated" }) == "device" and device.matrix_api or "emulated"
-- No device multiplies f32, but any emulates it.
local product = matmul.declare(device.is_cpu and 64 or 2048, { "f16", "i8", "f32" })
local op, sums = product.op, glsl.sums(product.op)

local shapes, names = {}, {}
for i, shape in ipairs(matrix_units.shapes(api, op.type, sums)) do
  names[i] = shape.m .. "x" .. shape.n .. "x" .. shape.k
  shapes[names[i]] = shape
end
if #names == 0 then
  error(string.format("the device has no matrix units that multiply %s and sum in %s (tilewalk devices lists those of all "
    .. "devices; --set units=emulated runs the same kernels anywhere, slowly)", op.type, sums))
end

-- Budgets, not sizes, as those of gemm.lua: the first part is what is left out.
param.matrix    = categorical(names)                           -- m x n x k of one fragment
param.subgroups = factors(device.is_cpu and 4 or 16, 3)        -- unused, rows, columns of a workgroup
param.fragments = factors(device.is_cpu and 4 or 64, 3)        -- unused, rows, columns of a subgroup
param.steps     = discrete(device.is_cpu and { 1, 2 } or { 1, 2, 4, 8 }) -- fragments along K of a tile

param.stage    = categorical(coop.stages)
param.halves   = categorical(coop.halves)                       -- of a tile that is double
param.skew     = discrete { 0, 1, 2 }                          -- after each row of a shared tile, in 16 bytes
param.vector_a = discrete(coop.widths(product.a, op.type))
param.vector_b = discrete(coop.widths(product.b, op.type))

if coop.can_transpose(product) then
  param.transpose = categorical(coop.transposes)               -- what does not lie along K, on its way into shared tiles
end
param.store    = categorical(coop.stores)                       -- from fragments to C
param.split_k  = discrete { 1, 2, 4, 8 }
param.walk     = custom(gemm.walks)

local function schedule(c)
  return {
    matrix = c.matrix, rows = { c.subgroups[2], c.fragments[2] },
    columns = { c.subgroups[3], c.fragments[3] }, steps = c.steps, stage = c.stage, halves = c.halves, skew = c.skew,
    vector_a = c.vector_a, vector_b = c.vector_b, store = c.store,
    transpose = coop.can_transpose(product) and c.transpose, split_k = c.split_k, walk = c.walk,
    lanes = subgroups.least,
  }
end

local plan = derived(function(c)
  local s = schedule(c)
  s.shape, s.api = shapes[s.matrix], api
  return coop.plan(product, s)
end)

if subgroups.least < device.subgroup_size then -- Vulkan asks it of the device's own size, whatever a kernel asks for
  constraint("whole rows", function(c) return plan(c).threads % device.subgroup_size == 0 end)
end
constraint("vectors divide fragments", function(c) return coop.vectors_fit(plan(c)) end)
if coop.can_transpose(product) then
  constraint("what is transposed is staged", function(c) return coop.has_what_is_transposed(plan(c), c.transpose) end)
end
constraint("lanes divide fragments", function(c) return coop.lanes_divide(plan(c)) end)
constraint("a tile ahead fits registers", function(c) return coop.next_tile_fits(plan(c)) end)
constraint("what is not staged is whole", function(c) return coop.fragments_are_whole(plan(c)) end)
constraint("what is stored straight is whole", function(c) return coop.stored_fragments_are_whole(plan(c)) end)
constraint("units hold what is stored", function(c) return coop.units_hold_what_is_stored(plan(c)) end)
constraint("compiles quickly", function(c) return coop.compiles_quickly(plan(c)) end)
constraint("no empty part of K", function(c) return c.steps * shapes[c.matrix].k * (c.split_k - 1) < op.K end)

coop.kernels(plan)
coop_nest.declare(product, schedule, shapes)
