-- C = A B with matrices that a whole workgroup holds: what a schedule means, and the space. A product is that of
-- gemm_plan.lua; group_units.lua spells what is done, group_gemm.comp is the template.
--
--     group_gemm.declare(product, api)     parameters, constraints, kernels, loop nest; api: "nv2", "nv2-emulated"
--
-- A workgroup computes rows x columns of C, tile by tile of `depth` elements along K; how its invocations share that, and
-- what is staged where, is the driver's. Sums leave in one of two ways:
--
--     tensor      through a tensor layout of C, after an operation of each element where there is something to be done
--     elements    an operation of each element stores it: also where C is no tensor of two dimensions (several images), or
--                 begins where layouts do not allow it

local arithmetic, glsl, epilogue = include "arithmetic.lua", include "glsl.lua", include "epilogue.lua"
local gemm, text, group_units = include "gemm_plan.lua", include "gemm_text.lua", include "group_units.lua"
local coop_nest, subgroups = include "coop_nest.lua", include "subgroups.lua"
local ceil_div = arithmetic.ceil_div

local group_gemm = {}

local aligned_bytes = 16 -- tensors begin at multiples of so many
local fragment = 8       -- rows, columns and elements along K of what the loop nest counts

-- Returns whether each matrix of a batch begins where a layout can.
local function is_aligned(count, elements, element) return count == 1 or elements * glsl.bytes(element) % aligned_bytes == 0 end

local function operand(p, name, place, lines, tile)
  return {
    name = name, place = place, lines = lines, along_k = place.along_k, gather = place.gather, vector = 1, tile = tile,
    tiles = ceil_div(lines, tile), exact = lines % tile == 0,
    decoded = place.gather ~= nil or place.blocks ~= nil or place.first ~= nil
      or not is_aligned(p.matrices, place.from_matrix, p.product.op.type),
  }
end

-- schedule: api, threads, rows, columns, depth, store, split_k, walk.
function group_gemm.plan(product, s)
  local p = {
    product = product, matrices = product.matrices, together = 1, walk = gemm.bands[s.walk], parts = s.split_k, api = s.api,
    threads = s.threads, depth = s.depth, store = s.store,
  }
  p.a = operand(p, "a", product.a, product.N, s.rows)
  p.b = operand(p, "b", product.b, product.M, s.columns)
  p.tiles = ceil_div(product.K, p.depth * p.parts) -- of one part
  p.exact_k = product.K % (p.depth * p.parts) == 0
  p.units = group_units.of(p)
  return p
end

local function result_is_a_tensor(p)
  local result, product = p.product.result, p.product
  if p.parts > 1 then return is_aligned(p.parts * p.matrices, product.N * product.M, "f32") end
  return not result.columns and not result.first and is_aligned(p.matrices, result.from_matrix, glsl.output(product.op))
end

-- Registers of an invocation: its share of the sums and of a tile of A and B.
local function registers(p)
  local sums, operands = glsl.bytes(glsl.sums(p.product.op)), glsl.bytes(p.product.op.type) * p.depth * (p.a.tile + p.b.tile)
  return ceil_div(sums * p.a.tile * p.b.tile + operands, 4 * p.threads)
end

local function resources_of(p)
  return {
    invocations = { p.threads, 1, 1 },
    groups = gemm.groups(p),
    shared_bytes = p.units.shared_bytes,
    accumulators = ceil_div(glsl.bytes(glsl.sums(p.product.op)) * p.a.tile * p.b.tile, 4 * p.threads),
    registers = registers(p),
    loop_trips = p.tiles * (1 + p.units.trips.tile) + 1 + p.units.trips.finish,
    statements = 64,
    buffer_bytes = math.max(p.product.buffer_bytes, gemm.scratch_bytes(p)),
  }
end

-- Searches begin here.
local source = "tensor layouts on an H200 by hand (docs/internals/gpus.md)"

local function begin_there(product, threads)
  local points = {}
  local store = result_is_a_tensor { product = product, matrices = product.matrices, parts = 1 } and "tensor" or "elements"
  local function add(rows, columns, depth)
    points[#points + 1] = {
      threads = threads, rows = rows, columns = columns, depth = depth, store = store, split_k = 1, walk = "group8",
    }
  end
  add(128, 256, 64)
  add(128, 128, 64)
  add(256, 128, 32)
  if glsl.sums(product.op) == "f16" then add(256, 256, 32) end
  begin(source, points)
end

function group_gemm.declare(product, api)
  local op, is_native = product.op, api == "nv2"
  local shapes, threads = {}, {} -- by invocations
  for _, shape in ipairs(group_units.shapes(api, op.type, glsl.sums(op))) do
    if not shapes[shape.invocations] then threads[#threads + 1] = shape.invocations end
    shapes[shape.invocations] = shape
  end
  table.sort(threads)
  local tiles = is_native and { 32, 64, 128, 256 } or { 16, 32 }
  local lanes = is_native and subgroups.least or 8

  param.threads = discrete(threads)                               -- of a workgroup
  param.rows    = discrete(tiles)                                 -- of C, of a workgroup
  param.columns = discrete(tiles)
  param.depth   = discrete(is_native and { 16, 32, 64, 128 } or { 8, 16, 32 }) -- elements along K of a tile
  param.store   = categorical { "tensor", "elements" }            -- sums
  param.split_k = discrete { 1, 2, 4, 8 }
  param.walk    = custom(gemm.walks)

  local plan = derived(function(c)
    return group_gemm.plan(product, {
      api = api, threads = c.threads, rows = c.rows, columns = c.columns, depth = c.depth, store = c.store,
      split_k = c.split_k, walk = c.walk,
    })
  end)
  constraint("multiples of the device's matrices", function(c)
    local shape = shapes[c.threads]
    return c.rows % shape.m == 0 and c.columns % shape.n == 0 and c.depth % shape.k == 0
  end)
  if is_native then
    constraint("matrices of the device", function(c)
      return math.max(c.rows, c.columns, c.depth) <= device.matrix_size and c.threads <= device.matrix_invocations
    end)
  end
  constraint("a tensor to store", function(c) return c.store ~= "tensor" or result_is_a_tensor(plan(c)) end)
  constraint("no empty part of K", function(c) return c.depth * (c.split_k - 1) < product.K end)

  gemm.kernels(plan, {
    template = "group_gemm.comp",
    resources = resources_of,
    subgroup = is_native and subgroups.smallest or nil,
    values = function(p) return { plan = p, glsl = glsl, text = text, epilogue = epilogue } end,
  })
  -- Counts as if subgroups, in two rows, staged tiles and multiplied fragments.
  nest(function(c, d)
    local across = d.max(1, d.min(c.threads // (2 * lanes), c.columns // fragment)) -- of subgroups, as far as there are columns
    coop_nest.add(d, product, {
      matrix = "fragment", rows = { 2, c.rows // (2 * fragment) }, columns = { across, c.columns // (across * fragment) },
      steps = c.depth // fragment, stage = "shared", skew = 0, vector_a = 1, vector_b = 1, store = "straight",
      split_k = c.split_k, walk = c.walk, lanes = lanes,
    }, { fragment = { m = fragment, n = fragment, k = fragment } })
  end)
  if is_native then begin_there(product, threads[#threads]) end
end

return group_gemm
