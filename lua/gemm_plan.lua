-- C = A B, perhaps many times: what a schedule means, derived once for constraints, resources and templates alike.
--
--     local p = gemm.plan(product, schedule)    the sizes that follow from a schedule
--     gemm.kernels(plan)                        declares resources, kernels and scratch memory by plan(c)
--
-- A product says what is multiplied and where it lies in memory; matmul.lua makes it from matrices, implicit_gemm.lua
-- from the image and the weights of a convolution:
--
--     op, matrices, N, M, K      C[N,M] = A[N,K] B[K,M], `matrices` times
--     a, b                       operands: along_k (whether neighbours in memory are neighbours along K), widest
--                                (vector that its rows can be read in, up to 4), eights (whether 8 f16 at once), elements (of the buffer), row (elements of
--                                one), pitch (elements from row to row in memory) or gather (see gemm_text.lua)
--     result                     C: widest, pitch, bias ("rows", "columns": what has one bias each), and for several
--                                images columns (of one image) and image (elements from one image to the next)
--     a.blocks                   nil, or the format of its weights (blocks.lua)
--     of these and bias_place    binding; from_matrix (elements from one matrix to the next), and cycle where the
--                                matrices repeat: matrix i is number i % cycle in memory
--     buffer_bytes               the largest buffer
--     kept                       elements (of 4 bytes) at the beginning of scratch memory that are not the product's own, 0
--                                unless given: operands and results may lie there, `first` elements from its beginning
--     quads                      the same product four elements of K at a time, if it can be so (quads.lua); of A in blocks a step has
--                                whole runs of eight such elements and their scale
--
-- A and B are treated alike. An operand consists of `lines` (rows of A, columns of B) of K elements. A workgroup works
-- on `tile` lines of each, an invocation on `count` of them: `virtual` groups of `registers` neighbours, the groups
-- `lanes * registers` apart. K is cut into tiles of `depth` elements, a tile into steps of `step` elements, and one
-- step is written out in full. A workgroup has `together` matrices, each with its own invocations and shared tiles.
-- Its invocations are numbered row by row of the tile, or (`warp`) subgroup by subgroup, each a tile of lanes of its own:
-- what a subgroup reads of A and B for as many products is least where that is as high as wide.
--
-- An operand reaches the registers in one of four ways:
--
--     none      straight from the buffer
--     shared    tile by tile through shared memory
--     prefetch  the same, while the next tile is already on its way to registers
--     double    the same, into the other half of a doubled shared tile: one barrier a tile
--
-- What a step multiplies is read from shared tiles when it is needed, or (`early`) during the step before: then the first
-- step of a tile is read before the last one of the tile before is computed, so that nothing waits behind the barrier; steps
-- are written as copies.

local arithmetic, glsl = include "arithmetic.lua", include "glsl.lua"
local epilogue, text = include "epilogue.lua", include "gemm_text.lua"
local subgroups, blocks, quads = include "subgroups.lua", include "blocks.lua", include "quads.lua"
local ceil_div, divisor, widest = arithmetic.ceil_div, arithmetic.divisor, arithmetic.widest

local gemm = {}

gemm.stages = { "none", "shared", "prefetch", "double" }

-- Orders of the workgroups: along the rows of C, in bands of 2, 4 or 8 rows, along the columns.
gemm.bands = { rows = 1, group2 = 2, group4 = 4, group8 = 8, columns = 0 }
local bands_next_to = {
  rows = { "group2" }, group2 = { "rows", "group4" }, group4 = { "group2", "group8" },
  group8 = { "group4", "columns" }, columns = { "group8" },
}
gemm.walks = {
  values = { "rows", "group2", "group4", "group8", "columns" },
  neighbours = function(walk) return bands_next_to[walk] end,
}

gemm.lanes = subgroups.tiled and { 0, 4, 8 } -- rows of a subgroup's tile, at most; 0: none, row by row

-- Where the chunks of a shared tile's line lie, of an operand along K: in their order, or such that they are written into
-- different banks. As lanes, this and the choices below are for GPUs that say what their subgroups are.
function gemm.swizzles(product)
  return subgroups.tiled and (product.a.along_k or product.b.along_k) and { "none", "xor" } or nil
end

-- When what a step multiplies is read from shared tiles. A CPU waits for nothing there.
gemm.fragments = subgroups.tiled and { "late", "early" } or nil

-- What becomes of the end of K where tiles do not fit: each address is clamped and each value tested, or the tiles that
-- lie within K are loaded by code of their own, without. Where all tiles fit there is no such choice.
function gemm.ends(product) return product.K % 32 ~= 0 and { "guarded", "apart" } or nil end

-- What becomes of the last rows and columns where tiles do not fit: what they would read beyond is clamped, in all tiles, or
-- the last tile begins earlier, so that it ends with the matrix; what the one before it has as well is not stored. Offered
-- where that can happen to tiles of up to 128 lines, and not on a CPU, which gains nothing by it.
function gemm.edges(product)
  if not subgroups.tiled then return nil end
  local function is_uneven(lines)
    local tile = 128
    while tile > lines do tile = tile // 2 end
    return lines % tile ~= 0
  end
  return (is_uneven(product.N) or is_uneven(product.M)) and { "guarded", "shifted" } or nil
end

-- What sums of f16 are kept in. `mixed`: sums of few products in f16, which are moved to sums in f32 after each step or
-- tile (`widen`); of no more products than the operator's tolerance speaks of.
gemm.accumulate = { "f32", "f16", "mixed" }
gemm.widens = { "step", "tile" }
local most_in_halves = 32

local most_rounds_copied = 16   -- a cooperative load of more rounds is a loop
local statements_of_gather = 12 -- of the address and the test of one element of an image
local reduce_group = { 32, 8 }  -- workgroup of the second pass of a split product

-- The vector widths with which an operand can be read; eight are four words on their way to a shared tile.
function gemm.widths(operand)
  if operand.eights and subgroups.tiled then return { 1, 2, 4, 8 } end
  return operand.widest == 4 and { 1, 2, 4 } or operand.widest == 2 and { 1, 2 } or { 1 }
end

local function operand(name, place, lines, split, stage, edges)
  local virtual, lanes, registers = split[1], split[2], split[3]
  local tile = virtual * lanes * registers
  local shifted = edges == "shifted" and lines % tile ~= 0 and tile <= lines
  return {
    name = name, lines = lines, along_k = place.along_k, gather = place.gather, place = place,
    virtual = virtual, lanes = lanes, registers = registers,
    count = virtual * registers, tile = tile,
    tiles = ceil_div(lines, tile), shifted = shifted, exact = shifted or lines % tile == 0,
    stage = stage, staged = stage ~= "none",
  }
end

-- How many neighbours an operand has within what is loaded at once.
local function neighbours(p, x)
  if x.staged then return x.along_k and p.depth or x.tile end
  return x.along_k and p.step or x.registers
end

-- How many register lines are loaded at once: neighbours in a shared tile, or in memory, or gathered one by one.
local function chunk(x)
  if x.staged or x.gather and not x.along_k then return widest(x.registers) end
  return x.along_k and 1 or x.vector
end

-- What is neighbours along K in memory is written into lines of the shared tile that are far apart: in banks of memory that
-- differ little, unless the chunks of a line change places. In line k, chunk c lies at c ^ (k / vector % period), so that an
-- invocation's neighbours write into as many places as `period`: a power of two that the chunks of a line are a multiple of,
-- of at most 128 bytes, which all banks are. nil: where nothing changes places.
local function period(p, x)
  local chunks, all = x.tile // x.chunk, math.min(128 // (x.chunk * glsl.bytes(p.element)), p.depth // x.vector)
  local period = 1
  while 2 * period <= all and chunks % (2 * period) == 0 do period = 2 * period end
  return x.along_k and period > 1 and period or nil
end

-- What staging adds. A shared tile is k-major: `depth` lines of `pitch` chunks. It is filled in `rounds` of one vector
-- an invocation, numbered in the order of memory.
local function add_stage(p, x, pad)
  x.pitch = x.tile // x.chunk + pad
  x.chunks = p.depth * x.pitch
  local aligned = ceil_div(16, x.chunk * glsl.bytes(p.element)) -- chunks, so that no gap is behind them
  x.swizzle = p.swizzled and period(p, x) or nil
  x.shared_chunks = ceil_div(x.stage == "double" and 2 * x.chunks or x.chunks, aligned) * aligned
  x.vectors = p.depth * x.tile // x.vector
  x.rounds = ceil_div(x.vectors, p.threads)
  x.looped = x.rounds > most_rounds_copied
  x.ahead = x.stage ~= "shared" and not x.looped -- the next tile waits in registers
end

-- The lanes of a subgroup as a tile: as many rows as are wished, there are, and it takes for whole subgroups.
local function warp(p, lanes, subgroup)
  if not lanes or lanes == 0 then return nil end
  local rows = math.max(math.min(lanes, p.a.lanes, subgroup), ceil_div(subgroup, p.b.lanes))
  local columns = subgroup // rows
  return { size = subgroup, rows = rows, columns = columns, across = p.b.lanes // columns }
end

-- The plan as tiles see it that lie within K, the first `elements` of it; nil where all do, or none.
local function within(p)
  local elements = p.product.K // p.depth * p.depth
  if p.exact_k or elements == 0 then return nil end
  local inner = {}
  for name, value in pairs(p) do inner[name] = value end
  inner.exact_k, inner.elements = true, elements
  return inner
end

-- schedule: rows and columns { virtual, lanes, registers }, depth { steps, step }, stage_a, stage_b, order, unroll
-- (products written out at most; a step always is, unless `cut`), and where they differ from the defaults: together
-- (1), ends ("guarded"), edges ("guarded"), fragments ("late" or "early"),
-- swizzle ("none" or "xor"), widen ("step" or "tile"), vector_a, vector_b, vector_c (the widest), pad (0), explicit ("hint"), walk ("rows"), split_k (1), index
-- ("hoist": where a pixel lies is found before the loop; or "recompute"), lanes (0; subgroup: how many those are), dot ("none").
function gemm.plan(product, s)
  if s.dot == "packed" then product = product.quads end
  local p = {
    product = product, element = product.element or product.op.type, order = s.order, walk = gemm.bands[s.walk or "rows"], parts = s.split_k or 1,
    matrices = product.matrices, together = s.together or 1,
  }
  p.a = operand("a", product.a, product.N, s.rows, s.stage_a, s.edges)
  p.b = operand("b", product.b, product.M, s.columns, s.stage_b, s.edges)
  p.threads = p.a.lanes * p.b.lanes -- of one matrix
  p.warp = warp(p, s.lanes, s.subgroup)
  local elements = product.a.packed and math.max(s.depth[2] // 8, 1) * quads.run or s.depth[2]
  p.depth = s.depth[1] * elements
  local unroll = s.unroll // (p.a.count * p.b.count) -- in elements of K
  p.step = s.cut and divisor(elements, unroll) or elements
  p.steps = p.depth // p.step
  p.unrolled = divisor(p.steps, unroll // p.step)
  p.tiles = ceil_div(product.K, p.depth * p.parts) -- of one part
  p.exact_k = product.K % (p.depth * p.parts) == 0
  p.early = s.fragments == "early" and (p.a.staged or p.b.staged)
  p.hint = p.unrolled > 1 and s.explicit ~= "copies" and not p.early
  p.swizzled = s.swizzle == "xor"
  for _, x in ipairs { p.a, p.b } do
    x.vector = s["vector_" .. x.name] or math.min(widest(neighbours(p, x)), x.place.widest)
    x.chunk = chunk(x)
    if x.staged then add_stage(p, x, s.pad or 0) end
    x.early = p.early and x.staged
    x.hoisted = x.gather and s.index ~= "recompute" and not x.looped
  end
  p.vector_c = s.vector_c or math.min(widest(p.b.registers), product.result.widest)
  p.widen = product.op.accumulate == "mixed" and (s.widen or "step") or nil
  if s.ends == "apart" then p.within = within(p) end
  return p
end

-- Subgroups are full where x alone is a number of them, and are cut from that.
function gemm.invocations(p)
  if p.warp then return { p.threads, 1, p.together } end
  return { p.b.lanes, p.a.lanes, p.together }
end

function gemm.threads(p) return p.threads * p.together end

function gemm.vectors_fit(p)
  local function fits(x)
    local can_be_read = x.vector == 8 and x.staged and x.place.eights or x.place.widest % x.vector == 0
    return neighbours(p, x) % x.vector == 0 and can_be_read
  end
  return fits(p.a) and fits(p.b)
end

-- What is summed in halves before it is moved.
function gemm.halves_fit(p)
  return not p.widen or (p.widen == "step" and p.step or p.depth) <= most_in_halves
end

function gemm.next_tile_fits(p)
  return not (p.a.stage == "prefetch" and p.a.looped) and not (p.b.stage == "prefetch" and p.b.looped)
end

-- Whether what is staged is read by several invocations: those that differ in the other operand's lane.
function gemm.staging_pays(p)
  return not (p.a.staged and p.b.lanes == 1) and not (p.b.staged and p.a.lanes == 1)
end

-- A loop of n iterations takes n + 1 trips, as lavapipe counts them: the last one finds the end.
local function loop_trips(p)
  local trips = 1 -- of one iteration over the tiles
  if p.unrolled < p.steps then trips = trips + p.steps // p.unrolled + 1 end
  if p.hint then trips = trips + p.steps + p.steps // p.unrolled end -- a driver may ignore the hint
  if p.a.looped then trips = trips + p.a.rounds + 1 end
  if p.b.looped then trips = trips + p.b.rounds + 1 end
  return p.tiles * trips + (p.a.looped and p.a.rounds + 1 or 0) + (p.b.looped and p.b.rounds + 1 or 0) + 1
end

-- Statements that load an operand: for the unrolled steps, and to fill its shared tile.
local function load_statements(p, x)
  local loads = p.unrolled * p.step * x.count
  local of_vector = x.gather and statements_of_gather or 1
  if not x.staged then return loads // (x.along_k and x.vector or x.gather and 1 or x.chunk) * of_vector end
  return loads // x.chunk + (x.looped and 1 or x.rounds) * (of_vector + x.vector)
end

local function statements(p)
  local stores = p.a.count * p.b.count // p.vector_c * (epilogue.is_needed(p.product.op) and 4 or 1)
  local products, loads = p.unrolled * p.step * p.a.count * p.b.count, load_statements(p, p.a) + load_statements(p, p.b)
  if not p.within then return stores + products + loads end
  return stores + 2 * loads + (p.a.staged and p.b.staged and 1 or 2) * products
end

-- lavapipe translates about 1000 statements a second
function gemm.compiles_quickly(p) return not device.is_cpu or statements(p) <= 768 end

function gemm.groups(p)
  local z = ceil_div(p.matrices, p.together) * p.parts
  if p.walk == gemm.bands.columns then return { p.a.tiles, p.b.tiles, z } end
  return { p.b.tiles, p.a.tiles, z }
end

function gemm.scratch_bytes(p)
  local parts = p.parts > 1 and arithmetic.product(4, p.parts, p.matrices, p.product.N, p.product.M) or 0
  return 4 * (p.product.kept or 0) + parts
end

-- Registers of an invocation: sums, an element of K of what it multiplies (or two steps), and what waits there for the next
-- tile.
local function registers(p)
  local function waiting(x) return x.ahead and ceil_div(x.rounds * x.vector * glsl.bytes(p.element), 4) or 0 end
  local function operands(x) return (x.early and 2 * p.step or 1) * x.count end
  local sums = p.a.count * p.b.count
  local parts = p.widen and ceil_div(sums, 2) or p.product.a.packed and sums or 0
  return sums + parts + operands(p.a) + operands(p.b) + waiting(p.a) + waiting(p.b)
end

local function resources_of(p)
  local bytes = glsl.bytes(p.element)
  local function shared_bytes(x) return x.staged and bytes * x.shared_chunks * x.chunk or 0 end
  return {
    invocations = gemm.invocations(p),
    groups = gemm.groups(p),
    shared_bytes = p.together * (shared_bytes(p.a) + shared_bytes(p.b)),
    accumulators = p.a.count * p.b.count,
    registers = registers(p),
    loop_trips = loop_trips(p),
    statements = statements(p),
    buffer_bytes = math.max(p.product.buffer_bytes, gemm.scratch_bytes(p)),
  }
end

local function values(p)
  return { plan = p, glsl = glsl, text = text, formats = blocks, run = quads.run, epilogue = epilogue, invocations = gemm.invocations(p), reduce_group = reduce_group }
end

-- Another kernel for the same products is { template = , resources = , values = }, functions of the plan, and subgroup =,
-- a function of subgroups.lua.
function gemm.kernels(plan, other)
  local first = other or { template = "gemm.comp", resources = resources_of, values = values }
  resources(function(c) return first.resources(plan(c)) end)
  kernel {
    template = first.template,
    values = function(c) return first.values(plan(c)) end,
    groups = function(c) return gemm.groups(plan(c)) end,
    subgroup = (first.subgroup or subgroups.choose)(function(c) return gemm.threads(plan(c)) end),
  }
  kernel { -- adds the parts of a split product
    template = "reduce.comp",
    values = function(c) return values(plan(c)) end,
    groups = function(c)
      local product = plan(c).product
      local columns = ceil_div(product.M // product.result.widest, reduce_group[1])
      return { columns, ceil_div(product.N, reduce_group[2]), product.matrices }
    end,
    when = function(c) return plan(c).parts > 1 end,
  }
  scratch(function(c) return gemm.scratch_bytes(plan(c)) end)
end

return gemm
