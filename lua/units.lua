-- Products on matrix units, for presets that have a space of other kernels too: which of the two a device gets, and the
-- space of coop.lua's schedules.
--
--     local api = units.choose(product)            declares the choice `units`; nil: other kernels
--     units.declare(product, api)                  parameters, constraints, kernels, loop nest
--     units.space(product, api, of, others)        the first two alone: returns plan(c), schedule(c), shapes; of(c): c's
--                                                  product; others: values of other parameters, where searches begin
--
--     auto       the device's, on GPUs, where they multiply the product's type and sum as it does, and C has four rows and
--                columns at least: with fewer, memory decides whatever multiplies; else other kernels
--     khr, nv    the device's, which kernels reach through that extension
--     emulated   plain GLSL in their place, anywhere: it shows that kernels are right, and nothing about speed
--     nv2        matrices that a workgroup holds (VK_NV_cooperative_matrix2, group_gemm.lua), of products whose result is a
--                matrix; nv2-emulated: the same in plain GLSL
--     none       other kernels
--
-- `auto` is never nv2: by hand it was no faster than khr on the one card where it was measured (docs/internals/gpus.md).

local group_gemm, group_units = include "group_gemm.lua", include "group_units.lua"
local coop, coop_nest, gemm = include "coop.lua", include "coop_nest.lua", include "gemm_plan.lua"
local matrix_units, glsl, subgroups = include "matrix_units.lua", include "glsl.lua", include "subgroups.lua"

local units = {}

local function sums_of(product) return product.sums or glsl.sums(product.op) end

local function has(product) return #matrix_units.shapes(device.matrix_api, product.op.type, sums_of(product)) > 0 end

local function refuse(product)
  error(string.format("the device has no matrix units that multiply %s and sum in %s (tilewalk devices lists those of all "
    .. "devices; --set units=emulated runs the same kernels anywhere, slowly)", product.op.type, sums_of(product)))
end

-- Matrices of a workgroup, if the word is one of theirs.
local function of_workgroup(product, word)
  if word == "nv2-emulated" then return word end
  local lacks = word == "nv2" and group_units.lacking(product.op.type, sums_of(product))
  if lacks then
    error("units=nv2: the device has no " .. lacks .. " (--set units=nv2-emulated runs the same kernels anywhere, slowly)")
  end
  return word == "nv2" and word or nil
end

function units.choose(product)
  if product.a and product.a.blocks then -- weights become numbers in ordinary kernels, or where a workgroup loads them
    return of_workgroup(product, choice("units", { "auto", "nv2", "nv2-emulated", "none" }))
  end
  local words = { "auto", "khr", "nv", "emulated", "none" }
  if product.result then words = { "auto", "khr", "nv", "nv2", "emulated", "nv2-emulated", "none" } end
  local word = choice("units", words)
  local group = of_workgroup(product, word)
  if group then return group end
  if word == "none" or word == "emulated" then return word == "emulated" and word or nil end
  local several = not product.N or math.min(product.N, product.M) >= 4
  if word == "auto" then return several and not device.is_cpu and has(product) and device.matrix_api or nil end
  if not has(product) then refuse(product) end
  if device.matrix_api ~= word then
    error("units=" .. word .. ": kernels reach this device's matrix units through " .. device.matrix_api)
  end
  return word
end

-- The same for a preset that has no other kernels. `device` was the word for `auto`.
function units.require(product)
  local word = choice("units", { "auto", "khr", "nv", "nv2", "emulated", "nv2-emulated", "device" })
  local group = of_workgroup(product, word)
  if group or word == "emulated" then return group or word end
  if not has(product) or word ~= "auto" and word ~= "device" and word ~= device.matrix_api then refuse(product) end
  return device.matrix_api
end

-- Searches on GPUs begin here: tiles of 256 x 128, 128 x 256 and 128 x 128 elements of fragments of 16 x 16, 4 x 4 a subgroup;
-- with sums in f16 256 x 256, 4 x 8 a subgroup; 2 x 2 where registers are few. 64 bytes of K, the next tile in registers, 16
-- bytes after each row. Tiles that are more than twice as large as C are none.
local source = "vk_cooperative_matrix_perf (8 subgroups, 64 bytes of K, 16 bytes after each row) and an H200 (2 x 2 subgroups)"

local function begin_there(product, name, shape, turns, others)
  local op, points = product.op, {}
  local function width(place, lines) return coop.widest(place, op.type, lines, shape.k) end
  local function add(subgroups, fragments, transpose)
    local rows, columns = subgroups[2] * fragments[2] * shape.m, subgroups[3] * fragments[3] * shape.n
    if rows > 2 * product.N or columns > 2 * product.M then return end
    local point = {
      matrix = name, subgroups = subgroups, fragments = fragments,
      steps = math.max(64 // glsl.bytes(op.type) // shape.k, 1), stage = "prefetch", halves = "swapped", skew = 1,
      vector_a = width(product.a, shape.m), vector_b = width(product.b, shape.n), transpose = turns and transpose or nil,
      store = "subgroup", split_k = 1, walk = "group4",
    }
    for parameter, value in pairs(others or {}) do point[parameter] = value end
    points[#points + 1] = point
  end
  local function is_single(place, lines) return not place.along_k and width(place, lines) == 1 end
  local kept = not is_single(product.a, shape.m) and not is_single(product.b, shape.n) -- else many rounds of single elements
  for _, transpose in ipairs(turns and { "staged", kept and "none" or nil } or { "none" }) do
    for _, subgroups in ipairs { { 2, 4, 2 }, { 2, 2, 4 }, { 4, 2, 2 } } do add(subgroups, { 4, 4, 4 }, transpose) end
  end
  if glsl.sums(op) == "f16" then add({ 2, 4, 2 }, { 2, 4, 8 }, "staged") end
  add({ 4, 2, 2 }, { 16, 2, 2 }, "staged")
  if #points > 0 then begin(source, points) end
end

function units.space(product, api, of, others)
  local op, turns = product.op, coop.can_transpose(product)
  local shapes, names = {}, {}
  for i, shape in ipairs(matrix_units.shapes(api, op.type, glsl.sums(op))) do
    names[i] = shape.m .. "x" .. shape.n .. "x" .. shape.k
    shapes[names[i]] = shape
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

  if turns then
    param.transpose = categorical(coop.transposes)               -- what does not lie along K, on its way into shared tiles
  end
  param.store    = categorical(coop.stores(api))                  -- from fragments to C
  param.split_k  = discrete { 1, 2, 4, 8 }
  param.walk     = custom(gemm.walks)

  local function schedule(c)
    return {
      matrix = c.matrix, rows = { c.subgroups[2], c.fragments[2] },
      columns = { c.subgroups[3], c.fragments[3] }, steps = c.steps, stage = c.stage, halves = c.halves, skew = c.skew,
      vector_a = c.vector_a, vector_b = c.vector_b, store = c.store, transpose = turns and c.transpose, split_k = c.split_k,
      walk = c.walk, lanes = subgroups.least,
    }
  end
  local plan = derived(function(c)
    local s = schedule(c)
    s.shape, s.api = shapes[s.matrix], api
    return coop.plan(of and of(c) or product, s)
  end)

  if subgroups.least < device.subgroup_size then -- Vulkan asks it of the device's own size, whatever a kernel asks for
    constraint("whole rows", function(c) return plan(c).threads % device.subgroup_size == 0 end)
  end
  constraint("vectors divide fragments", function(c) return coop.vectors_fit(plan(c)) end)
  if turns then
    constraint("what is transposed is staged", function(c) return coop.has_what_is_transposed(plan(c), c.transpose) end)
  end
  constraint("lanes divide fragments", function(c) return coop.lanes_divide(plan(c)) end)
  constraint("a tile ahead fits registers", function(c) return coop.next_tile_fits(plan(c)) end)
  constraint("what is not staged is whole", function(c) return coop.fragments_are_whole(plan(c)) end)
  constraint("what is stored straight is whole", function(c) return coop.stored_fragments_are_whole(plan(c)) end)
  constraint("units hold what is stored", function(c) return coop.units_hold_what_is_stored(plan(c)) end)
  constraint("compiles quickly", function(c) return coop.compiles_quickly(plan(c)) end)
  constraint("no empty part of K", function(c)
    return c.steps * shapes[c.matrix].k * (c.split_k - 1) < plan(c).product.K
  end)
  if api ~= "emulated" and not device.is_cpu then begin_there(product, names[1], shapes[names[1]], turns, others) end
  return plan, schedule, shapes
end

function units.declare(product, api)
  if api == "nv2" or api == "nv2-emulated" then return group_gemm.declare(product, api) end
  local plan, schedule, shapes = units.space(product, api)
  coop.kernels(plan)
  coop_nest.declare(product, schedule, shapes)
end

return units
