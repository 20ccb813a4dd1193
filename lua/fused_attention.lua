-- O = softmax(Q K' / sqrt(dim)) V, head by head: what a schedule means; attention.comp is the template.
--
--     local p = attention.plan(op, schedule)
--     attention.kernels(plan, api)                declares resources, kernels and scratch memory by plan(c)
--
-- The scores are never in memory as a whole (Dao et al., "FlashAttention", 2022). A workgroup has `lines` queries of a head;
-- with fewer heads of K and V, of all heads that share one: line i of these is query i // group of head i % group. It goes
-- through the keys tile by tile: products with K, what of them is a weight, products with V. A line keeps the largest score so
-- far and the sum of its weights by that; where the largest grows, the sum and what is there of O are rescaled. Few lines leave
-- most of a device idle: then `parts` workgroups have a part of the keys each, and a second pass joins what they have
-- ("flash decoding").
--
-- A unit is what multiplies: an invocation, whose fragments are single elements of the scores and vectors of O, or a subgroup
-- with matrix units (matrix_units.lua), whose fragments are m x n. A workgroup has `rows` x `columns` units, a unit `count`
-- fragments of lines, and of keys `keys` fragments (of the scores), of O as many as its dim takes (`dims`).
--
--     tile_q, tile_k, tile_v    rows of Q, K and V in shared memory, `pitch` vectors each, zeros behind dim; V has K's place,
--                               or its own, so that the next K is loaded before this V is used up (`tiles`: one or two); for
--                               matrix units, which load fragments of V along the keys, it may be transposed on its way
--                               (`turned`): an invocation writes words of what two keys have
--     scores, weights           lines x keys; a weight is of the inputs' type for matrix units, else f32
--     factors                   of each line: what O is rescaled by
--
-- Each line of scores has `share` invocations, which all look for the largest and weigh their share; or an invocation
-- has `each` lines. The largest is looked for among all scores (`scan`), or among the largest of the units, which reduce rows of
-- their fragments (`reduce`, VK_NV_cooperative_matrix2). Keys behind the last are the last one again and change nothing there, but
-- those that a causal mask hides do.

local arithmetic, glsl = include "arithmetic.lua", include "glsl.lua"
local matrix_units, subgroups, plain = include "matrix_units.lua", include "subgroups.lua", include "plain.lua"
local ceil_div = arithmetic.ceil_div

local attention = { lowest = -1e30 } -- of scores: what scales it does not overflow

-- Only what consists of two in a word is turned: f16, bf16.
function attention.tiles(op, api)
  return api ~= "none" and glsl.bytes(op.type) == 2 and { "one", "two", "turned" } or { "one", "two" }
end

function attention.largest(op, api)
  return matrix_units.reduces(api) and op.mask ~= "causal" and { "scan", "reduce" } or { "scan" }
end

local row_bytes = 16           -- rows of fragments begin at multiples of so many
local most_rounds_copied = 16  -- a cooperative load of more rounds is a loop
local join_group = 64          -- workgroup of the second pass

-- The vector widths with which rows can be read: single elements, or words that are moved only (4, 8 or 16 bytes) for matrix
-- units, up to four elements for others.
function attention.widths(op, api)
  local widths = { 1 }
  for _, n in ipairs { 2, 4, 8 } do
    if op.dim % n == 0 and n * glsl.bytes(op.type) <= (api == "none" and 4 * glsl.bytes(op.type) or 16) then
      widths[#widths + 1] = n
    end
  end
  return widths
end

-- Rows of a tensor: of matrix i (all heads of Q that share one of K), from its first row on, in rows of dim elements.
local function places(op)
  local group = op.heads // op.kv_heads
  if op.layout == "bhnd" then
    return {
      lines = { matrix = group * op.N, query = 1, head = op.N }, keys = { matrix = op.M, key = 1 },
    }
  end
  return {
    lines = { batch = op.N * op.heads, kv_head = group, query = op.heads, head = 1 },
    keys = { batch = op.M * op.kv_heads, kv_head = 1, key = op.kv_heads },
  }
end

-- schedule: api, shape (m, n, k), lanes (of a subgroup), group { rows, columns } of units, rows, keys, vector, tiles, skew (in
-- 16 bytes, after each row of what is shared), unroll (of the loops of both products, without matrix units), parts, largest.
function attention.plan(op, s)
  local p = {
    op = op, output = glsl.output(op), api = s.api, group = op.heads // op.kv_heads, matrices = op.batch * op.kv_heads, place = places(op),
    rows = s.group[1], columns = s.group[2], count = s.rows, keys_of_unit = s.keys, vector = s.vector, parts = s.parts,
    two = s.tiles ~= "one", turned = s.tiles == "turned", unroll = s.unroll, lanes = 1, m = 1, n = 1, k = 1, causal = op.mask == "causal",
  }
  p.all_lines = op.N * p.group
  p.element, p.o_vector = "f32", s.vector
  if s.api ~= "none" then
    p.lanes, p.m, p.n, p.k, p.o_vector, p.element = s.lanes, s.shape.m, s.shape.n, s.shape.k, 1, op.type
    p.reduced = s.largest == "reduce"
    p.units = matrix_units.of {
      api = s.api, m = p.m, n = p.n, k = p.k, a = op.type, c = "f32", lanes = p.lanes, elements = p.reduced,
    }
  end
  p.threads = p.lanes * p.rows * p.columns
  p.lines, p.keys = p.rows * p.count * p.m, p.columns * p.keys_of_unit * p.n
  local wide = p.columns * p.n * p.o_vector -- of dim, of a fragment of each unit
  p.dims = ceil_div(op.dim, wide)
  p.dim = p.dims * wide
  p.padded = p.dim ~= op.dim
  p.moved = p.vector == 1 and glsl.vector(op.type, 1) or p.units and glsl.vector("word", p.vector * glsl.bytes(op.type) // 4)
    or glsl.vector(op.type, p.vector)
  local function pitch(elements, element) return elements + s.skew * row_bytes // glsl.bytes(element) end
  p.pitch = pitch(p.dim, op.type) // p.vector
  p.pitch_scores, p.pitch_weights = pitch(p.keys, "f32"), pitch(p.keys, p.element)
  p.pitch_turned = pitch(p.keys, op.type) // 2 -- in words
  p.pitch_tops = p.columns * p.n               -- a fragment of each unit
  p.share, p.each = math.max(p.threads // p.lines, 1), math.max(p.lines // p.threads, 1)
  p.span = ceil_div(op.M, p.keys * p.parts) * p.keys -- keys of a part
  p.exact = p.span * p.parts == op.M
  p.masked = p.causal or not p.exact
  p.line_tiles = ceil_div(p.all_lines, p.lines)
  p.exact_lines = p.all_lines % p.lines == 0
  p.scale = 1 / (math.sqrt(op.dim) * math.log(2)) -- scores are exponents of 2
  return p
end

-- A tile of `rows` rows, or pairs of rows: how invocations fill it.
function attention.load(p, rows)
  local vectors = rows * p.dim // p.vector
  local rounds = ceil_div(vectors, p.threads)
  return { vectors = vectors, rounds = rounds, looped = rounds > most_rounds_copied }
end

function attention.fits(p)
  local step = p.units and p.k or 1
  return p.dim % p.vector == 0 and p.dim % step == 0 and p.keys % step == 0 and p.share <= p.keys
    and (not p.units or step % p.vector == 0 and p.n % p.vector == 0)
end

-- A fragment of dim that is beyond its end is there for the others' sake: not all of it may be.
function attention.columns_are_there(p) return p.dim - p.op.dim < math.max(p.dim // p.dims, p.n) end

function attention.unrolled_steps_are_there(p)
  return p.units and true or p.dim // p.vector % p.unroll == 0 and p.keys % p.unroll == 0
end

function attention.parts_are_there(p) return p.span * (p.parts - 1) < p.op.M end

function attention.lanes_divide(p) return p.m * p.n % p.lanes == 0 end

-- Units ask for as many lines as there are, not more than twice.
function attention.lines_are_there(p) return p.lines < 2 * math.max(p.all_lines, p.m) end

local function statements(p)
  local function fill(rows)
    local l = attention.load(p, rows)
    return 4 * (l.looped and 1 or l.rounds)
  end
  local o, scores = p.count * p.dims, p.count * p.keys_of_unit
  local products = p.units and p.count * 2 + p.keys_of_unit + p.dims + scores + o
    or p.unroll * (2 * p.count + p.keys_of_unit + p.dims + scores + o)
  local leaving = p.units and 3 * o or o * (p.parts > 1 and p.vector or 1)
  local of_v = p.turned and (p.vector + 1) * fill(p.keys // 2) or fill(p.keys)
  return fill(p.lines) + (p.two and 2 or 1) * fill(p.keys) + of_v + products + scores + 2 * o + leaving + 14 * p.each
end

-- lavapipe translates about 1000 statements a second; loops of an emulation are more than one.
function attention.compiles_quickly(p)
  return not device.is_cpu or statements(p) <= (p.units and 192 or 768)
end

local function loop_trips(p)
  local function fill(rows)
    local l = attention.load(p, rows)
    return l.looped and l.rounds + 1 or 0
  end
  local o, scores = p.count * p.dims, p.count * p.keys_of_unit
  local qk, pv, leaving = p.dim // p.vector // p.unroll + 1, p.keys // p.unroll + 1, 0
  if p.units then
    local u = p.units.trips
    qk = p.dim // p.k * (p.count * u.load_a + p.keys_of_unit * u.load_b + scores * u.multiply + 1) + 1 + scores * u.store
    pv = p.keys // p.k * (p.count * u.load_a + p.dims * u.load_b + o * u.multiply + 1) + 1 + (p.count + o) * u.store
    leaving = o * (2 * u.store + p.m * p.n // p.lanes + 1)
  end
  local softmax = p.each * (p.keys + 1 + p.keys // p.share + 1)
  return p.span // p.keys * (1 + fill(p.keys) + fill(p.turned and p.keys // 2 or p.keys) + qk + pv + softmax) + 1 + fill(p.lines) + leaving + p.each * (p.share + 1)
end

local function shared_bytes(p)
  local tiles = (p.lines + (p.two and not p.turned and 2 or 1) * p.keys) * p.pitch * p.vector * glsl.bytes(p.op.type)
  if p.reduced then tiles = tiles + 4 * p.lines * p.pitch_tops end
  return tiles + (p.turned and 4 * p.dim * p.pitch_turned or 0) + p.lines * (4 * p.pitch_scores + glsl.bytes(p.element) * p.pitch_weights + 4)
end

-- Elements of scratch memory, f32: O as the parts have it, then the largest score and the sum of each.
function attention.parts_of_o(p) return arithmetic.product(p.parts, p.matrices, p.all_lines, p.op.dim) end

local function scratch_bytes(p)
  if p.parts == 1 then return 0 end
  return arithmetic.product(4, p.parts, p.matrices, p.all_lines, p.op.dim + 2)
end

-- Returns the registers of the operands that an invocation holds: lines and one column of matrix units, all of a step of others.
local function operands(p)
  if p.units then return ceil_div(glsl.bytes(p.op.type) * p.k * (p.count * p.m + p.n), 4 * p.lanes) end
  return (p.count + math.max(p.keys_of_unit, p.dims)) * p.vector
end

local function resources_of(p)
  local sums = p.count * p.dims * p.m * p.n * p.o_vector // p.lanes
  local scores = p.count * p.keys_of_unit * p.m * p.n // p.lanes
  local op = p.op
  return {
    invocations = { p.threads, 1, 1 },
    groups = { p.line_tiles, p.matrices, p.parts },
    shared_bytes = shared_bytes(p),
    accumulators = sums,
    registers = sums + scores + 3 * p.each + operands(p),
    loop_trips = loop_trips(p),
    statements = statements(p),
    buffer_bytes = math.max(scratch_bytes(p), glsl.bytes(op.type)
      * arithmetic.product(op.batch, op.dim, math.max(op.heads * op.N, op.kv_heads * op.M))),
  }
end

-- Texts: the first row of a matrix, and that of a line's query. --------------------------------------------------------

function attention.origin(p, place)
  if place.matrix then return glsl.times("matrix", place.matrix) end
  local kv_heads = p.op.kv_heads
  return glsl.sum(glsl.times(glsl.over("matrix", kv_heads), place.batch),
    kv_heads == 1 and "0" or glsl.times(glsl.modulo("matrix", kv_heads), place.kv_head))
end

function attention.row_of(p, line)
  local place, query = p.place.lines, glsl.times(glsl.over(line, p.group), p.place.lines.query)
  return glsl.sum(query, p.group == 1 and "0" or glsl.times(glsl.modulo(line, p.group), place.head))
end

function attention.kernels(plan, api)
  local function values(p) return { plan = p, glsl = glsl, attention = attention, join_group = join_group } end
  local function threads(c) return plan(c).threads end
  local function rows(p) return p.matrices * p.all_lines * (p.op.dim // p.vector) end
  resources(function(c) return resources_of(plan(c)) end)
  kernel {
    template = "attention.comp",
    values = function(c) return values(plan(c)) end,
    subgroup = (api == "none" and subgroups.choose or subgroups.smallest)(threads),
  }
  kernel { -- joins what the parts have
    template = "attention_join.comp",
    values = function(c) return values(plan(c)) end,
    groups = function(c)
      local groups = plain.groups(ceil_div(rows(plan(c)), join_group))
      return { groups[1], groups[2], 1 }
    end,
    when = function(c) return plan(c).parts > 1 end,
  }
  scratch(function(c) return scratch_bytes(plan(c)) end)
end

return attention
