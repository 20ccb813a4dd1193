-- The loop nest of attention.comp and attention_join.comp, for a schedule in symbols; it follows fused_attention.lua line by line.
--
--     attention_nest.declare(op, schedule, shapes)    schedule(c): see fused_attention.lua; shapes: of the words that its
--                                                     `matrix` may be, nil without matrix units
--
-- Work of a subgroup with a fragment counts by an invocation's share, as in coop_nest.lua. A causal mask counts as the keys
-- that a query sees in the mean.

local glsl, nest_words = include "glsl.lua", include "nest_words.lua"

local attention_nest = {}

local row_bytes, most_rounds_copied, join_group = 16, 16, 64 -- see fused_attention.lua
local most_groups = 65535                                    -- see plain.lua

local function plan(d, w, op, s, shapes)
  local p = {
    op = op, group = op.heads // op.kv_heads, matrices = op.batch * op.kv_heads, rows = s.group[1], columns = s.group[2],
    count = s.rows, keys_of_unit = s.keys, vector = s.vector, parts = s.parts, lanes = s.lanes,
    two = w.is(s.tiles, "two"), turned = shapes and glsl.bytes(op.type) == 2 and w.is(s.tiles, "turned") or false,
    m = 1, n = 1, k = 1, o_vector = s.vector, element = "f32", step = s.vector, unroll = s.unroll,
  }
  if shapes then
    local function size_of(field)
      local size = 0
      for name, shape in pairs(shapes) do size = d.choose(d.is(s.matrix, name), shape[field], size) end
      return size
    end
    p.m, p.n, p.k, p.o_vector, p.element = size_of("m"), size_of("n"), size_of("k"), 1, op.type
    p.step = p.k
  end
  p.reduced = s.largest and w.is(s.largest, "reduce") or false
  p.all_lines = op.N * p.group
  p.threads = p.lanes * p.rows * p.columns
  p.lines, p.keys = p.rows * p.count * p.m, p.columns * p.keys_of_unit * p.n
  local wide = p.columns * p.n * p.o_vector
  p.dims = d.ceil_div(op.dim, wide)
  p.dim = p.dims * wide
  local function pitch(elements, element) return elements + s.skew * (row_bytes // glsl.bytes(element)) end
  p.pitch, p.pitch_scores, p.pitch_weights = pitch(p.dim, op.type), pitch(p.keys, "f32"), pitch(p.keys, p.element)
  p.pitch_turned = pitch(p.keys, op.type)
  p.share, p.each = d.max(p.threads // p.lines, 1), d.max(p.lines // p.threads, 1)
  p.tiles = d.ceil_div(op.mask == "causal" and op.M - (op.N - 1) // 2 or op.M, p.keys * p.parts)
  p.span = d.ceil_div(op.M, p.keys * p.parts) * p.keys
  p.of_scores, p.of_o = p.m * p.n // p.lanes, p.m * p.n * p.o_vector // p.lanes -- an invocation's elements of a fragment
  p.is_split = d.less(1, p.parts)
  return p
end

local function launch(d, w, p)
  local tile = w.loop("line_tile", "block_x", d.ceil_div(p.all_lines, p.lines))
  p.matrix, p.part = w.loop("matrix", "block_y", p.matrices), w.loop("part", "block_z", p.parts)
  p.row, p.column = w.loop("unit_row", "thread_x", p.rows), w.loop("unit_column", "thread_x", p.columns)
  p.lane = w.loop("lane", "thread_x", p.lanes)
  p.thread = (p.row * p.columns + p.column) * p.lanes + p.lane
  p.path = { p.part, p.matrix, tile, p.row, p.column, p.lane }
  p.first = tile * p.lines
  p.tile = w.loop("tile", "serial", p.tiles)
  p.in_tile = w.joined(p.path, { p.tile })
  p.key = p.part * p.span + p.tile * p.keys
end

local function memory(d, p)
  local op, pitch_turned = p.op, p.pitch_turned
  local function rows(name, count, type)
    if op.layout == "bhnd" then return d.buffer { name, p.matrices, count, op.dim, type = type } end
    return d.buffer { name, count, p.matrices, op.dim, type = type }
  end
  local all = {
    q = rows("q", p.all_lines, op.type), k = rows("k", op.M, op.type), v = rows("v", op.M, op.type),
    o = rows("o", p.all_lines, glsl.output(op)),
  }
  function p.in_memory(name, matrix, row, along)
    if op.layout == "bhnd" then return all[name] { matrix, row, along } end
    return all[name] { row, matrix, along }
  end
  p.tile_q = d.buffer { "tile_q", p.lines, p.pitch, memory = "shared", type = op.type }
  p.tile_k = d.buffer { "tile_k", p.keys, p.pitch, memory = "shared", type = op.type, copies = d.choose(p.two, 2, 1) }
  p.tile_v = d.buffer { "tile_v", p.dim, pitch_turned, memory = "shared", type = op.type, used = p.turned }
  p.scores = d.buffer { "scores", p.lines, p.pitch_scores, memory = "shared" }
  p.weights = d.buffer { "weights", p.lines, p.pitch_weights, memory = "shared", type = p.element }
  p.factors = d.buffer { "factors", p.lines, memory = "shared" }
  p.tops = d.buffer { "tops", p.lines, p.columns * p.n, memory = "shared", used = p.reduced }
  p.parts_of_o = d.buffer { "parts_of_o", p.parts, p.matrices, p.all_lines, op.dim, used = p.is_split }
  p.parts_of_lines = d.buffer { "parts_of_lines", p.parts, p.matrices, p.all_lines, 2, used = p.is_split }
  p.score = d.buffer { "score", p.count, p.keys_of_unit, p.of_scores, memory = "registers" }
  p.o = d.buffer { "sums", p.count, p.dims, p.of_o, memory = "registers" }
  p.line = d.buffer { "line", p.each, 2, memory = "registers" } -- its largest score, its sum of weights
end

local function cooperative(w, p, name, elements, row, vector)
  return w.cooperative(name, {
    elements = elements, row = row, vector = vector, threads = p.threads, most_copied = most_rounds_copied,
    lanes = { { loop = p.lane, count = p.lanes }, { loop = p.column, count = p.columns }, { loop = p.row, count = p.rows } },
  })
end

local function fill(d, w, p, name, to, rows, path, first, when)
  local load = cooperative(w, p, "fill_" .. name, rows * p.dim, p.dim, p.vector)
  d.statement {
    "fill " .. name, loops = w.joined(path, load.loops), when = when, stores = to { load.across, load.along },
    reads = { p.in_memory(name, p.matrix, first + load.across, load.along) },
  }
end

-- Vectors of two keys at once.
local function fill_turned(d, w, p)
  local load = cooperative(w, p, "turn_v", p.keys // 2 * (p.dim // p.vector), p.keys // 2, 1)
  local two, element = w.loop("turn_key", "unrolled", 2), w.loop("turn_element", "vectorized", p.vector)
  local key, along = load.along * 2 + two, load.across * p.vector + element
  d.statement {
    "turn v", loops = w.joined(p.in_tile, load.loops, { two, element }), when = p.turned, stores = p.tile_v { along, key },
    reads = { p.in_memory("v", p.matrix, p.key + key, along) },
  }
end

-- A product over `extent` elements in steps: of fragments from `a` (line i of the unit) and `b` (fragment j of `columns`).
local function product(d, w, p, x)
  local outer, step = w.loop(x.name .. "_outer", "serial", x.extent // (x.step * p.unroll)), w.loop(x.name .. "_step", "unrolled", p.unroll)
  local path = w.joined(p.in_tile, { outer, step })
  local at = (outer * p.unroll + step) * x.step
  local i, j = w.loop(x.name .. "_i", "unrolled", p.count), w.loop(x.name .. "_j", "unrolled", x.columns)
  local function load(what, fragment, count, share, from, type)
    local element = w.loop(x.name .. "_" .. what .. "_element", "vectorized", share)
    local held = d.buffer { x.name .. "_" .. what, count, share, memory = "registers", type = type }
    for n, way in ipairs(from) do -- one or the other
      d.statement {
        x.name .. " " .. what .. n, loops = w.joined(path, { fragment, element }), when = way.when,
        stores = held { fragment, element }, reads = { way.element(fragment, element) },
      }
    end
    return held { fragment, 0 }
  end
  local a = load("a", i, p.count, x.share_a, {
    { element = function(fragment, element) return x.a { p.row * p.m + fragment * (p.rows * p.m), at + element } end },
  }, x.type_a)
  local b = load("b", j, x.columns, x.share_b, x.b(at), p.op.type)
  local element = w.loop(x.name .. "_element", "vectorized", x.share)
  d.statement {
    x.name, loops = w.joined(path, { i, j, element }), updates = x.to { i, j, element }, reads = { a, b },
    add = x.each, multiply = x.each,
  }
end

local function scores(d, w, p)
  product(d, w, p, {
    name = "scores", extent = p.dim, step = p.step, columns = p.keys_of_unit, a = p.tile_q, type_a = p.op.type,
    share_a = p.m * p.step // p.lanes, share_b = p.n * p.step // p.lanes, share = p.of_scores, each = p.step, to = p.score,
    b = function(at)
      return { { element = function(j, element) return p.tile_k { p.column * p.n + j * (p.columns * p.n), at + element } end } }
    end,
  })
  local i, j = w.loop("score_i", "unrolled", p.count), w.loop("score_j", "unrolled", p.keys_of_unit)
  local element = w.loop("score_element", "vectorized", p.of_scores)
  d.statement {
    "store scores", loops = w.joined(p.in_tile, { i, j, element }), reads = { p.score { i, j, element } },
    stores = p.scores { (p.row + i * p.rows) * p.m, (p.column + j * p.columns) * p.n + element },
  }
end

local function weigh(d, w, p)
  local function each(name) return w.loop(name .. "_line", "unrolled", p.each) end
  local line, c = each("largest"), w.loop("largest_key", "serial", p.keys)
  local function row(e) return p.row * d.max(1, p.columns * p.lanes // p.share) + e * p.threads end
  d.statement {
    "largest", loops = w.joined(p.in_tile, { line, c }), updates = p.line { line, 0 }, reads = { p.scores { row(line), c } },
    compare = 1, when = d.none(p.reduced),
  }
  if p.reduced then
    local i, element = w.loop("reduced_i", "unrolled", p.count), w.loop("reduced_element", "vectorized", p.of_scores)
    d.statement {
      "reduce scores", loops = w.joined(p.in_tile, { i, element }), when = p.reduced, reads = { p.score { i, 0, element } },
      stores = p.tops { (p.row + i * p.rows) * p.m, p.column * p.n + element }, compare = p.keys_of_unit,
    }
    line, c = each("largest_of_units"), w.loop("largest_unit", "serial", p.columns)
    d.statement {
      "largest of units", loops = w.joined(p.in_tile, { line, c }), updates = p.line { line, 0 }, compare = 1, when = p.reduced,
      reads = { p.tops { row(line), c * p.n } },
    }
  end
  line = each("factor")
  d.statement {
    "factor", loops = w.joined(p.in_tile, { line }), stores = p.factors { row(line) }, reads = { p.line { line, 0 } },
    compare = 1, multiply = 1, add = 1, special = 1,
  }
  line, c = each("weigh"), w.loop("weigh_key", "serial", p.keys // p.share)
  local at = c * p.share + p.lane
  d.statement {
    "weigh", loops = w.joined(p.in_tile, { line, c }), stores = p.weights { row(line), at }, reads = { p.scores { row(line), at } },
    multiply = 1, add = 2, special = 1,
  }
  line = each("add_weights")
  d.statement {
    "add weights", loops = w.joined(p.in_tile, { line }), updates = p.line { line, 1 }, multiply = 1, add = 1,
  }
end

-- Matrix units load a fragment of factors, invocations the one that they need.
local function rescale(d, w, p, name, path, when)
  local i, share = w.loop(name .. "_i", "unrolled", p.count), p.of_scores
  local held = d.buffer { name .. "_factor", p.count, share, memory = "registers" }
  local element = w.loop(name .. "_of_factor", "unrolled", share)
  d.statement {
    name .. " by", loops = w.joined(path, { i, element }), when = when, stores = held { i, element },
    reads = { p.factors { (p.row + i * p.rows) * p.m } },
  }
  local j, of_o = w.loop(name .. "_j", "unrolled", p.dims), w.loop(name .. "_element", "vectorized", p.of_o)
  d.statement {
    name, loops = w.joined(path, { i, j, of_o }), when = when, updates = p.o { i, j, of_o }, reads = { held { i, 0 } }, multiply = 1,
  }
end

local function values(d, w, p)
  rescale(d, w, p, "rescale", p.in_tile, true)
  product(d, w, p, {
    name = "values", extent = p.keys, step = p.k, columns = p.dims, a = p.weights, type_a = p.element,
    share_a = p.m * p.k // p.lanes, share_b = p.n * p.k * p.o_vector // p.lanes, share = p.of_o, each = p.k, to = p.o,
    b = function(at)
      local function along(j) return (p.column + j * p.columns) * (p.n * p.o_vector) end
      return {
        { when = d.none(p.turned), element = function(j, element) return p.tile_k { at, along(j) + element } end },
        { when = p.turned, element = function(j, element) return p.tile_v { along(j), at + element } end },
      }
    end,
  })
end

local function finish(d, w, p)
  local line = w.loop("sum_line", "unrolled", p.each)
  d.statement {
    "leave sums", loops = w.joined(p.path, { line }), stores = p.scores { 0, p.thread + line * p.threads }, reads = { p.line { line, 1 } },
  }
  line = w.loop("total_line", "unrolled", p.each)
  local of_line = p.scores { 0, p.thread + line * p.threads }
  d.statement { "total", loops = w.joined(p.path, { line }), stores = p.line { line, 1 }, reads = { of_line } }
  local other = w.loop("other_sums", "serial", d.max(p.share - 1, 1))
  d.statement {
    "add sums", loops = w.joined(p.path, { line, other }), when = d.less(1, p.share), updates = p.line { line, 1 },
    reads = { p.scores { 0, p.thread + line * p.threads + other } }, add = 1,
  }
  d.statement {
    "invert", loops = w.joined(p.path, { line }), when = d.none(p.is_split), stores = p.factors { p.row + line * p.threads },
    reads = { p.line { line, 1 } }, divide = 1,
  }
  local two = w.loop("of_line", "unrolled", 2)
  d.statement {
    "store a part's sums", loops = w.joined(p.path, { line, two }), when = p.is_split, reads = { p.line { line, two } },
    stores = p.parts_of_lines { p.part, p.matrix, p.first + p.row + line * p.threads, two },
  }
  rescale(d, w, p, "divide", p.path, d.none(p.is_split))
end

local function store(d, w, p, has_units)
  local i, j = w.loop("o_i", "unrolled", p.count), w.loop("o_j", "unrolled", p.dims)
  local element = w.loop("o_element", has_units and "serial" or "vectorized", p.of_o)
  local path, from = w.joined(p.path, { i, j, element }), p.o { i, j, element }
  local row, along = (p.row + i * p.rows) * p.m, (p.column + j * p.columns) * (p.n * p.o_vector) + element
  if has_units then
    local held = w.loop("o_held", "vectorized", p.of_o)
    from = p.scores { 0, (p.row * p.columns + p.column) * (p.m * p.n) + p.lane + element * p.lanes }
    d.statement {
      "store fragments", loops = w.joined(p.path, { i, j, held }), reads = { p.o { i, j, held } },
      stores = p.scores { 0, (p.row * p.columns + p.column) * (p.m * p.n) + p.lane + held * p.lanes },
    }
    row, along = row + p.lane * (p.m // p.lanes), (p.column + j * p.columns) * p.n + p.lane
  end
  d.statement {
    "store", loops = path, when = d.none(p.is_split), stores = p.in_memory("o", p.matrix, p.first + row, along), reads = { from },
  }
  d.statement {
    "store a part", loops = path, when = p.is_split, stores = p.parts_of_o { p.part, p.matrix, p.first + row, along },
    reads = { from },
  }
end

-- The second pass: an invocation has a vector of O.
local function join(d, w, p)
  local op = p.op
  local groups = d.ceil_div(p.matrices * p.all_lines * (op.dim // p.vector), join_group)
  local high = d.ceil_div(groups, most_groups)
  local x, y = w.loop("join_x", "block_x", d.ceil_div(groups, high)), w.loop("join_y", "block_y", high)
  local thread = w.loop("join_thread", "thread_x", join_group)
  local path, along = { y, x, thread }, thread * p.vector
  local held = d.buffer { "joined", p.vector + 2, memory = "registers" }
  local part = w.loop("join_top_part", "unrolled", p.parts)
  d.statement {
    "largest of parts", loops = w.joined(path, { part }), when = p.is_split, stores = held { 0 },
    reads = { p.parts_of_lines { part, 0, x, 0 } },
  }
  local others = w.loop("join_others", "unrolled", d.max(p.parts - 1, 1))
  d.statement { "larger of two", loops = w.joined(path, { others }), when = p.is_split, updates = held { 0 }, compare = 1 }
  local of_part, two = w.loop("join_part", "unrolled", p.parts), w.loop("join_of_line", "vectorized", 2)
  d.statement {
    "read a part's sums", loops = w.joined(path, { of_part, two }), when = p.is_split, stores = held { 1 },
    reads = { p.parts_of_lines { of_part, 0, x, two } },
  }
  d.statement {
    "add a part's sums", loops = w.joined(path, { of_part }), when = p.is_split, updates = held { 1 }, add = 2, multiply = 1,
    special = 1,
  }
  local element = w.loop("join_element", "vectorized", p.vector)
  d.statement {
    "add a part", loops = w.joined(path, { of_part, element }), when = p.is_split, updates = held { element },
    reads = { p.parts_of_o { of_part, 0, x, along + element } }, add = 1, multiply = 1,
  }
  local last = w.loop("join_last", "vectorized", p.vector)
  d.statement {
    "divide what is joined", loops = w.joined(path, { last }), when = p.is_split, reads = { held { last } }, divide = 1,
    stores = p.in_memory("o", 0, x, along + last),
  }
end

function attention_nest.declare(op, schedule, shapes)
  nest(function(c, d)
    local w = nest_words.of(d)
    local p = plan(d, w, op, schedule(c), shapes)
    launch(d, w, p)
    memory(d, p)
    fill(d, w, p, "q", p.tile_q, p.lines, p.path, p.first)
    fill(d, w, p, "k", p.tile_k, p.keys, p.in_tile, p.key)
    scores(d, w, p)
    fill(d, w, p, "v", p.tile_k, p.keys, p.in_tile, p.key, d.none(p.turned))
    fill_turned(d, w, p)
    weigh(d, w, p)
    values(d, w, p)
    finish(d, w, p)
    store(d, w, p, shapes ~= nil)
    join(d, w, p)
  end)
end

return attention_nest
