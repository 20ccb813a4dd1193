-- C = A B with matrix units: what a schedule means. A product is that of gemm_plan.lua, and so are the words for what is
-- shared with it; gemm_coop.comp is the template.
--
--     local p = coop.plan(product, schedule)
--     coop.kernels(plan)                        declares resources, kernels and scratch memory by plan(c)
--
-- Subgroups are the smallest of the device, for which its units are made: 32 invocations on AMD and NVIDIA, 8 or 16 on
-- Intel.
--
-- C is cut into fragments of m x n elements. A subgroup computes count x count neighbouring fragments, a workgroup has
-- `units` x `units` subgroups: an operand's tile is units * count * extent lines (extent: m of A, n of B) of `steps`
-- fragments along K. It reaches the fragments in one of four ways, those of gemm_plan.lua: straight from the buffer, or
-- through shared memory, where a tile lies as in the buffer, its rows `pitch` vectors apart.
--
-- An operand that does not lie along K may be transposed on its way into shared memory (`transpose`), so that fragments of
-- all operands are loaded along K, in wide loads. An invocation then reads a block of `block` vectors, one for each of as
-- many neighbours along K, turns it in registers and writes one vector along K for each of its lines.
--
-- A doubled tile has two halves. The half that is read changes with each tile, in one of three ways:
--
--     swapped   two variables say where they begin
--     counted   the number of the tile does, of which compilers know that it is even or odd: distances from there are
--               constants of their instructions, and not registers of their own
--     filled    the same, and the next tile does not wait in registers while this one is multiplied: it is brought before
--
-- Sums leave in one of four ways. Which lane holds which element of a fragment is not told, and edges within fragments of
-- C, the bias, the residual and vectors need to know:
--
--     workgroup   through shared memory, a fragment of each subgroup at a time, all of the workgroup waiting for each other
--     subgroup    the same, each subgroup waiting for itself
--     straight    from fragments to C: what is added to them are fragments as well (all rows of the bias lie in one place; a bias by rows does not leave so),
--                 what is made of their elements one by one needs no place, and other types are other fragments
--     elements    by a function of each element that knows its row and column (VK_NV_cooperative_matrix2), and stores what
--                 lies within C

local arithmetic, glsl = include "arithmetic.lua", include "glsl.lua"
local gemm, epilogue = include "gemm_plan.lua", include "epilogue.lua"
local matrix_units, text, subgroups = include "matrix_units.lua", include "gemm_text.lua", include "subgroups.lua"
local ceil_div = arithmetic.ceil_div

local coop = {}

coop.stages = gemm.stages
coop.halves = { "swapped", "counted", "filled" }
-- The ways in which sums can leave.
function coop.stores(api)
  return { "workgroup", "subgroup", "straight", matrix_units.knows_elements(api) and "elements" or nil }
end

coop.transposes = { "none", "staged" }

local row_bytes = 16           -- rows of fragments begin at multiples of so many
local most_rounds_copied = 16  -- a cooperative load of more rounds is a loop

-- The vector widths with which an operand can be read: single elements, or 4, 8 or 16 bytes.
function coop.widths(place, element)
  local widths, g = { 1 }, place.gather
  if g and not g.channels_last then return widths end
  local row, pitch = g and g.channels or place.row, g and g.all_channels or place.pitch
  for _, words in ipairs { 1, 2, 4 } do
    local n = words * 4 // glsl.bytes(element)
    if n > 1 and arithmetic.divides(n, row, pitch, place.from_matrix, place.first or 0) then widths[#widths + 1] = n end
  end
  return widths
end

-- The widest of them that fragments of `extent` lines and `k` elements along K are made of.
function coop.widest(place, element, extent, k)
  local widest = 1
  for _, n in ipairs(coop.widths(place, element)) do
    if (place.along_k and k or extent) % n == 0 then widest = n end
  end
  return widest
end

-- Returns whether an operand of the product can be transposed.
function coop.can_transpose(product) return not (product.a.along_k and product.b.along_k) end

local function operand(name, place, lines, extent, units, count)
  local tile = units * count * extent
  return {
    name = name, place = place, lines = lines, along_k = place.along_k, gather = place.gather, extent = extent, units = units, count = count,
    tile = tile, tiles = ceil_div(lines, tile), exact = lines % tile == 0,
  }
end

-- Elements along K of a block that is turned: 16, 8 or 4 bytes; fewer where invocations would have nothing to do.
local function block(p, x)
  local bytes = glsl.bytes(p.product.op.type)
  for _, n in ipairs { 16 // bytes, 8 // bytes } do
    if p.k % n == 0 and x.vector * n * p.threads <= x.tile * p.depth then return n end
  end
  return math.max(4 // bytes, 2)
end

-- Adds the sizes of staging. A tile is rows of chunks; it is filled in `rounds` of one vector, or block of vectors, an invocation.
-- Neighbours that read single elements read neighbouring ones. Wider reads of neighbours follow each other along K, so that
-- the parts of blocks that they write lie side by side.
local function add_stage(p, x, skew)
  local row, rows = x.row_along_k and p.depth or x.tile, x.row_along_k and x.tile or p.depth
  x.block = x.transposed and block(p, x) or 1
  x.chunk = x.transposed and x.block or x.vector
  x.k_first = x.transposed and x.vector > 1
  x.pitch = (row + skew * row_bytes // glsl.bytes(p.product.op.type)) // x.chunk
  x.chunks = rows * x.pitch
  x.shared_chunks = p.stage == "double" and 2 * x.chunks or x.chunks
  x.vectors = rows * row // (x.vector * x.block)
  x.rounds = ceil_div(x.vectors, p.threads)
  x.looped = x.rounds > most_rounds_copied
  x.hoisted = x.gather and not x.looped
end

-- schedule: shape (m, n, k), api, rows and columns { subgroups, fragments }, steps, stage, skew (in 16 bytes, after each
-- row of a shared tile), vector_a, vector_b, split_k, walk, lanes (of a subgroup), and where they are not the default: halves
-- ("swapped"), store ("workgroup"), transpose ("none").
function coop.plan(product, s)
  local op = product.op
  local p = {
    product = product, matrices = product.matrices, together = 1, walk = gemm.bands[s.walk], parts = s.split_k,
    stage = s.stage, staged = s.stage ~= "none", halves = s.stage == "double" and (s.halves or "swapped") or nil,
    api = s.api, steps = s.steps, depth = s.steps * s.shape.k, m = s.shape.m, n = s.shape.n, k = s.shape.k, lanes = s.lanes,
    in_words = true, store = s.store or "workgroup",
  }
  p.straight, p.elements = p.store == "straight", p.store == "elements"
  p.sums = s.shape.c == "u32" and "u32" or glsl.sums(op) -- of fragments; in shared memory and for epilogues u32 is i32
  p.ahead = s.stage == "prefetch" or p.halves and p.halves ~= "filled" -- the next tile waits in registers
  p.units = matrix_units.of {
    api = s.api, m = p.m, n = p.n, k = p.k, a = op.type, c = p.sums, lanes = p.lanes, elements = p.elements,
  }
  p.a = operand("a", product.a, product.N, p.m, s.rows[1], s.rows[2])
  p.b = operand("b", product.b, product.M, p.n, s.columns[1], s.columns[2])
  p.a.vector, p.b.vector = s.vector_a, s.vector_b
  p.threads = p.lanes * p.a.units * p.b.units
  p.tiles = ceil_div(product.K, p.depth * p.parts) -- of one part
  p.exact_k = product.K % (p.depth * p.parts) == 0
  for _, x in ipairs { p.a, p.b } do
    x.transposed = p.staged and s.transpose == "staged" and not x.along_k
    x.row_along_k = x.along_k or x.transposed -- of what fragments are loaded from
    if p.staged then add_stage(p, x, s.skew) end
  end
  p.vector_c = (p.straight or p.elements) and 1 or math.min(product.result.widest, arithmetic.widest(p.n))
  p.vectors_of_lane = ceil_div(p.m * p.n, p.vector_c * p.lanes) -- of one fragment of C
  return p
end

function coop.vectors_fit(p)
  local function fits(x)
    return (x.along_k and p.k or x.extent) % x.vector == 0 and (not x.transposed or p.k % x.block == 0)
  end
  return fits(p.a) and fits(p.b)
end

function coop.has_what_is_transposed(p, transpose)
  return transpose ~= "staged" or p.a.transposed or p.b.transposed
end

function coop.next_tile_fits(p)
  return not p.ahead or not p.a.looped and not p.b.looped
end

-- What comes straight from the buffer is not looked at: nothing may lie outside.
function coop.fragments_are_whole(p)
  local function aligned(x)
    if x.gather then return false end
    local bytes = glsl.bytes(p.product.op.type)
    return x.place.pitch * bytes % row_bytes == 0 and x.place.from_matrix * bytes % row_bytes == 0
  end
  return p.staged or p.a.exact and p.b.exact and p.exact_k and aligned(p.a) and aligned(p.b)
end

-- What a kernel stores, and of what fragments it is made: the element of the output, or of a part of the sum; that which the
-- epilogue computes in, nil where there is none.
local function stored(p)
  local op = p.product.op
  if p.parts > 1 then return glsl.wide(glsl.sums(op)), nil end
  local output = glsl.output(op)
  return output, epilogue.is_needed(op) and glsl.wide(output) or nil
end

-- Of what leaves fragments straight, no row or column is outside, and rows begin where Vulkan allows it.
function coop.stored_fragments_are_whole(p)
  local product, result = p.product, p.product.result
  local pitch, from_matrix = result.pitch, result.from_matrix
  if p.parts > 1 then pitch, from_matrix = product.M, product.N * product.M end
  local bytes = glsl.bytes((stored(p)))
  local aligned = math.min(row_bytes, p.n * bytes)
  local is_apart = result.columns and result.columns % p.n ~= 0 -- a fragment of two images
  local by_rows = p.parts == 1 and product.op.bias == "add" and result.bias == "rows"
  if p.straight and (is_apart or by_rows) then return false end
  return not p.straight or product.N % p.m == 0 and product.M % p.n == 0 and pitch * bytes % aligned == 0
    and from_matrix * bytes % aligned == 0
end

function coop.units_hold_what_is_stored(p)
  local output, between = stored(p)
  local function hold(element) return matrix_units.sums_in(p.api, p.m, p.n, element) end
  return not p.straight or hold(output) and (not between or hold(between))
end

function coop.lanes_divide(p) return p.m * p.n % p.lanes == 0 end

local function loop_trips(p)
  local u, fragments = p.units.trips, p.a.count * p.b.count
  local function fill(x) return x.looped and x.rounds + 1 or 0 end
  local products = p.steps * (p.a.count * u.load_a + p.b.count * u.load_b + fragments * u.multiply)
  local leaving = p.straight and 9 * u.store or 2 * u.store + p.vectors_of_lane + 1 -- 9: with all that can be added
  if p.elements then leaving = u.store end
  return p.tiles * (1 + products + fill(p.a) + fill(p.b)) + 1 + fragments * leaving
end

local function statements(p)
  local function fill(x)
    return p.staged and (x.looped and 1 or x.rounds) * (x.transposed and x.block + (x.block + 1) * x.vector or 2) or 0
  end
  local products = p.steps * (p.a.count + p.b.count + p.a.count * p.b.count)
  return products + fill(p.a) + fill(p.b) + 8 * p.a.count * p.b.count
end

-- Only the emulation runs on CPU devices.
function coop.compiles_quickly(p) return not device.is_cpu or statements(p) <= 128 end

-- Registers of an invocation: its parts of the fragments, sums and operands, and what waits there for the next tile.
local function registers(p)
  local bytes = glsl.bytes(p.product.op.type)
  local function waiting(x)
    return p.ahead and not x.looped and ceil_div(x.rounds * x.block * x.vector * bytes, 4) or 0
  end
  local sums = glsl.bytes(glsl.sums(p.product.op)) * p.a.count * p.b.count * p.m * p.n
  local operands = bytes * p.k * (p.a.count * p.m + p.b.count * p.n)
  return ceil_div(sums + operands, 4 * p.lanes) + waiting(p.a) + waiting(p.b)
end

local function resources_of(p)
  local function tile_bytes(x) return p.staged and glsl.bytes(p.product.op.type) * x.shared_chunks * x.chunk or 0 end
  local sums = glsl.bytes(glsl.sums(p.product.op)) -- two of f16 share a register
  return {
    invocations = { p.threads, 1, 1 },
    groups = gemm.groups(p),
    shared_bytes = tile_bytes(p.a) + tile_bytes(p.b) + ((p.straight or p.elements) and 0 or sums * p.a.units * p.b.units * p.m * p.n),
    accumulators = ceil_div(sums * p.a.count * p.b.count * p.m * p.n, 4 * p.lanes),
    registers = registers(p),
    loop_trips = loop_trips(p),
    statements = statements(p),
    buffer_bytes = math.max(p.product.buffer_bytes, gemm.scratch_bytes(p)),
  }
end

function coop.kernels(plan)
  gemm.kernels(plan, {
    template = "gemm_coop.comp",
    resources = resources_of,
    subgroup = subgroups.smallest,
    values = function(p) return { plan = p, glsl = glsl, text = text, epilogue = epilogue } end,
  })
end

return coop
