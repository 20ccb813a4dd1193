-- Products with at most 16 rows or columns: what a schedule means. A product is that of gemm_plan.lua, and so are the
-- words for what is shared with it; skinny.comp is the template.
--
--     local p = skinny.plan(product, schedule)
--     skinny.kernels(plan)                        declares resources, kernels and scratch memory by plan(c)
--
-- One operand is long, the matrix: its lines are all rows (or columns) of C; the other is the few, all of whose lines
-- every invocation has. A workgroup works on a tile of lines of the long one. Its invocations along K share each of
-- them: one takes every `along_k`-th vector (`unroll` of them, then the loop turns) where vectors lie along K, else
-- every along_k-th `unroll` neighbours. What they have is added up through shared memory, in a tree, or by subgroups,
-- which then take all of one line (or part of it, the rest going through shared memory).
--
-- Invocations that follow each other read what follows in memory: those along K where the matrix lies so.

local arithmetic, glsl = include "arithmetic.lua", include "glsl.lua"
local gemm, epilogue, text = include "gemm_plan.lua", include "epilogue.lua", include "gemm_text.lua"
local subgroups, blocks, quads = include "subgroups.lua", include "blocks.lua", include "quads.lua"
local ceil_div, widest = arithmetic.ceil_div, arithmetic.widest

local skinny = { most = 16 }

local function operand(product, name, lines)
  local place = product[name]
  if lines == 1 and not place.along_k and place.pitch == 1 then -- a column without gaps lies as a row does
    place = {
      binding = place.binding, along_k = true, pitch = product.K, from_matrix = place.from_matrix,
      widest = widest(product.K, place.from_matrix),
    }
  end
  return { name = name, place = place, lines = lines, along_k = place.along_k }
end

-- The operand with the many lines, and the other one.
function skinny.sides(product)
  local a, b = operand(product, "a", product.N), operand(product, "b", product.M)
  if product.N >= product.M then return a, b end
  return b, a
end

function skinny.widths(product)
  local long = skinny.sides(product)
  return ({ { 1 }, { 1, 2 }, [4] = { 1, 2, 4 } })[widest(long.place.widest)]
end

function skinny.reductions(product)
  local long = skinny.sides(product)
  if not long.along_k or not device.subgroup_adds then return { "shared" } end
  return { "shared", "subgroup" }
end

-- schedule: group { along K, along the lines }, lines, vector, unroll, split_k, reduce, subgroup (its size), dot ("none"; or
-- "packed", of A in blocks: vectors are of words, of four bytes each).
function skinny.plan(product, s)
  if s.dot == "packed" then product = quads.apart(product) end
  local long, few = skinny.sides(product)
  local p = {
    product = product, element = product.op.type, parts = s.split_k, matrices = product.matrices, together = 1,
    long = long, few = few, along_k = s.group[1], lanes = s.group[2], lines = s.lines, unroll = s.unroll,
    vector = s.vector, in_subgroup = s.reduce == "subgroup", subgroup = s.subgroup,
  }
  p.a, p.b = long.name == "a" and long or few, long.name == "a" and few or long
  p.walk = long.name == "a" and gemm.bands.columns or gemm.bands.rows -- tiles follow each other along x
  p.threads = p.along_k * p.lanes
  p.chunk = long.along_k and 1 or p.vector                            -- lines of a vector
  p.count = p.lines * p.chunk                                         -- lines of an invocation
  long.tile, few.tile = p.lanes * p.count, few.lines
  long.tiles, few.tiles = ceil_div(long.lines, long.tile), 1
  p.exact = long.lines % long.tile == 0
  p.k_vector = long.along_k and p.vector or 1                         -- elements of K in what a lane takes at once
  p.k_step = p.k_vector * p.unroll                                    -- and before the loop turns
  p.span = ceil_div(product.K, p.parts * p.along_k * p.k_step) * p.along_k * p.k_step -- of one part
  p.exact_k = product.K == p.span * p.parts
  local together = not few.along_k and few.lines or long.along_k and p.vector or p.unroll
  p.few_vector = math.min(widest(together), few.place.widest)
  p.partials = p.in_subgroup and ceil_div(p.along_k, p.subgroup) or p.along_k -- what is left to be added up
  return p
end

-- Each lane finds a step, whole where neighbours along K are one.
function skinny.steps_are_there(p)
  local whole = p.long.along_k and p.vector or p.unroll
  return p.product.K % whole == 0 and p.along_k * p.k_step <= p.product.K
end

function skinny.parts_are_there(p) return p.span * (p.parts - 1) < p.product.K end

-- A subgroup adds up all that it has, or swaps what lanes have within a part of it.
function skinny.subgroups_fit(p)
  if not p.in_subgroup then return true end
  return p.along_k > 1 and (p.along_k % p.subgroup == 0 or device.subgroup_shuffles and p.subgroup % p.along_k == 0)
end

local function statements(p)
  local steps = p.long.along_k and (p.exact_k and p.unroll or p.unroll + 1) or p.unroll
  local products = steps * p.k_vector * p.count * p.few.lines
  local loads = steps * (p.lines + p.k_vector * p.few.lines)
  local levels = p.in_subgroup and p.partials or 0
  while 1 << levels < p.partials do levels = levels + 1 end
  return products + loads + p.few.lines * p.count * (levels + 3)
end

-- lavapipe translates about 1000 statements a second
function skinny.compiles_quickly(p) return not device.is_cpu or statements(p) <= 768 end

local function shared_bytes(p)
  if p.partials == 1 then return 0 end
  return glsl.bytes(glsl.wide(glsl.sums(p.product.op))) * p.count * p.partials * p.lanes
end

local function invocations(p)
  return p.long.along_k and { p.along_k, p.lanes, 1 } or { p.lanes, p.along_k, 1 }
end

local function resources_of(p)
  local sums = p.count * p.few.lines
  return {
    invocations = invocations(p),
    groups = gemm.groups(p),
    shared_bytes = shared_bytes(p),
    accumulators = sums,
    registers = sums + p.lines * p.vector * (p.long.along_k and 1 or p.unroll) + p.few.lines * p.few_vector,
    loop_trips = p.span // (p.along_k * p.k_step) + p.unroll + 2,
    statements = statements(p),
    buffer_bytes = math.max(p.product.buffer_bytes, gemm.scratch_bytes(p)),
  }
end

local function values(p) return { plan = p, glsl = glsl, formats = blocks, text = text, epilogue = epilogue, invocations = invocations(p) } end

function skinny.kernels(plan) gemm.kernels(plan, { template = "skinny.comp", resources = resources_of, values = values }) end

return skinny
