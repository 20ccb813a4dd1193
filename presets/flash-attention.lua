-- presets/flash-attention.lua: O = softmax(Q K' / sqrt(dim)) V in one kernel, for all heads; the products with matrix units
-- where the device has them
local attention, matrix_units = include "fused_attention.lua", include "matrix_units.lua"
local attention_nest, subgroups = include "fused_attention_nest.lua", include "subgroups.lua"
local units, glsl = include "units.lua", include "glsl.lua"

local n = device.is_cpu and 128 or 2048
local op = operator.attention {
  batch = size("batch", 1), heads = size("heads", device.is_cpu and 4 or 32), kv_heads = size("kv_heads", 0, 0), -- 0: as many
  N = size("N", n), M = size("M", n), dim = size("dim", device.is_cpu and 64 or 128),
  type = choice("type", { "f32", "f16", "bf16", "f8e4m3", "f8e5m2" }), layout = choice("layout", { "bhnd", "bnhd" }),
  mask = choice("mask", { "none", "causal" }),
}
local api
if glsl.bytes(op.type) > 1 then
  api = units.choose { op = op, sums = "f32" }
else
  choice("units", { "auto", "none" }, "auto", "f8 has too few bits for the weights, which units would multiply in the inputs' type")
end
api = api or "none"
local has_units = api ~= "none"

local shapes, names = {}, {}
if has_units then
  for i, shape in ipairs(matrix_units.shapes(api, op.type, "f32")) do
    names[i] = shape.m .. "x" .. shape.n .. "x" .. shape.k
    shapes[names[i]] = shape
  end
  param.matrix = categorical(names)                              -- m x n x k of one fragment
end

-- A unit is an invocation, or a subgroup with matrix units. The first part of a budget is what is left out.
param.group  = factors(has_units and (device.is_cpu and 4 or 8) or device.is_cpu and 64 or 256, 3) -- unused, along lines, keys
param.rows   = discrete(has_units and { 1, 2, 4 } or { 1, 2, 4, 8 }) -- fragments of lines of a unit
param.keys   = discrete(has_units and { 1, 2, 4, 8 } or { 1, 2, 4 }) -- and of keys
param.vector = discrete(attention.widths(op, api))
param.tiles  = categorical(attention.tiles(op, api))            -- K and V in one place, in two, or V transposed in its own
param.skew   = discrete { 0, 1 }                                -- after each row of what is shared, in 16 bytes
if not has_units then
  param.unroll = discrete { 1, 2, 4 }                           -- vectors of dim, and keys, before loops turn
end
param.parts  = discrete { 1, 2, 4, 8, 16 }                      -- of the keys
local ways = attention.largest(op, api)
if #ways > 1 then
  param.largest = categorical(ways)                             -- score of a line: among all, or units reduce fragments
end

local function schedule(c)
  return {
    matrix = has_units and c.matrix, group = { c.group[2], c.group[3] }, rows = c.rows, keys = c.keys, vector = c.vector,
    tiles = c.tiles, skew = c.skew, unroll = has_units and 1 or c.unroll, parts = c.parts, lanes = has_units and subgroups.least or 1,
    largest = #ways > 1 and c.largest or nil,
  }
end

local plan = derived(function(c)
  local s = schedule(c)
  s.shape, s.api = shapes[s.matrix], api
  return attention.plan(op, s)
end)

if has_units and subgroups.least < device.subgroup_size then -- Vulkan asks it of the device's own size, whatever a kernel asks for
  constraint("whole rows", function(c) return plan(c).threads % device.subgroup_size == 0 end)
end
constraint("whole subgroups", function(c) return plan(c).threads >= subgroups.least end)
if #ways > 1 then
  constraint("rows that are reduced", function(c) return c.largest ~= "reduce" or matrix_units.reduces_shape(shapes[c.matrix]) end)
end
constraint("vectors and steps divide tiles", function(c) return attention.fits(plan(c)) end)
constraint("unrolled steps are there", function(c) return attention.unrolled_steps_are_there(plan(c)) end)
constraint("lanes divide fragments", function(c) return attention.lanes_divide(plan(c)) end)
constraint("lines are there", function(c) return attention.lines_are_there(plan(c)) end)
constraint("no empty part of the keys", function(c) return attention.parts_are_there(plan(c)) end)
constraint("compiles quickly", function(c) return attention.compiles_quickly(plan(c)) end)

attention.kernels(plan, api)
attention_nest.declare(op, schedule, has_units and shapes or nil)
