-- The loop nest of gemm_coop.comp, for a schedule in symbols: see coop.lua and gemm_nest.lua.
--
--     coop_nest.declare(product, schedule, shapes)    shapes: of the words that the schedule's `matrix` may be
--     coop_nest.add(d, product, s, shapes)            the same as a part of a nest, for what schedule(c) returned
--
-- A subgroup moves and multiplies a fragment together: an invocation's share counts, as if its elements followed each
-- other. The emulation, where each invocation does far more, counts as what it emulates.

local glsl, nest_words, gemm_nest = include "glsl.lua", include "nest_words.lua", include "gemm_nest.lua"

local coop_nest = {}

local row_bytes, most_rounds_copied = 16, 16 -- see coop.lua

-- A size of the shape that a word names.
local function size_of(d, w, word, shapes, field)
  local size = 0
  for name, shape in pairs(shapes) do size = d.choose(w.is(word, name), shape[field], size) end
  return size
end

-- Elements along K of a block that is turned.
local function block(d, p, x)
  local bytes = glsl.bytes(p.op.type)
  local function fits(n)
    return d.all(d.equal(p.k % n, 0), d.none(d.less(x.tile * p.depth, x.vector * n * p.threads)))
  end
  local function or_less(n, less) return d.choose(fits(n), n, less) end
  return or_less(16 // bytes, or_less(8 // bytes, math.max(4 // bytes, 2)))
end

local function operand(d, w, p, name, place, lines, extent, split, s)
  local units, count = split[1], split[2]
  local tile = units * count * extent
  local x = {
    name = name, place = place, lines = lines, along_k = place.along_k, gather = place.gather, extent = extent, units = units, count = count,
    tile = tile, tiles = d.ceil_div(lines, tile), vector = s["vector_" .. name],
  }
  x.row, x.rows = x.along_k and p.depth or tile, x.along_k and tile or p.depth
  x.transposed = s.transpose and not x.along_k and d.all(p.staged, w.is(s.transpose, "staged")) or false
  local chunk = x.vector
  if x.transposed then
    x.block = block(d, p, x)
    x.row, x.rows = d.choose(x.transposed, p.depth, x.row), d.choose(x.transposed, tile, x.rows)
    chunk = d.choose(x.transposed, x.block, x.vector)
  end
  x.pitch = (x.row + s.skew * (row_bytes // glsl.bytes(p.op.type))) // chunk * chunk
  return x
end

local function plan(d, w, product, s, shapes)
  local p = { op = product.op, sums = glsl.sums(product.op), parts = s.split_k, together = 1, lanes = s.lanes }
  p.m, p.n, p.k = size_of(d, w, s.matrix, shapes, "m"), size_of(d, w, s.matrix, shapes, "n"), size_of(d, w, s.matrix, shapes, "k")
  p.steps, p.depth = s.steps, s.steps * p.k
  p.staged, p.doubled = d.none(w.is(s.stage, "none")), w.is(s.stage, "double")
  p.straight = d.none(w.is(s.store, "workgroup", "subgroup"))
  p.threads = p.lanes * s.rows[1] * s.columns[1]
  p.a = operand(d, w, p, "a", product.a, product.N, p.m, s.rows, s)
  p.b = operand(d, w, p, "b", product.b, product.M, p.n, s.columns, s)
  p.tiles = d.ceil_div(product.K, p.depth * p.parts)
  p.vector_c = d.min(product.result.widest, w.widest(p.n))
  return p
end

local function in_tile(d, x, line, k)
  if x.along_k then return x.tile_buffer { line, k } end
  if not x.transposed then return x.tile_buffer { k, line } end
  local turned, kept = d.choose(x.transposed, 1, 0), d.choose(x.transposed, 0, 1)
  return x.tile_buffer { line * turned + k * kept, k * turned + line * kept }
end

-- A tile that is transposed: blocks are read into registers, and written from there.
local function turn(d, w, p, product, x)
  local k_first = d.less(1, x.vector)
  local down, across = p.depth // x.block, x.tile // x.vector -- blocks
  local load = w.cooperative("turn_" .. x.name, {
    elements = down * across, row = d.choose(k_first, down, across), vector = 1, threads = p.threads, lanes = p.thread_loops,
    most_copied = most_rounds_copied,
  })
  local first, second = d.choose(k_first, 1, 0), d.choose(k_first, 0, 1)
  local k = (load.along * first + load.across * second) * x.block
  local line = (load.along * second + load.across * first) * x.vector
  local path = w.joined(p.path, { p.tile }, load.loops)
  local held = d.buffer { "block_" .. x.name, x.block, x.vector, memory = "registers", type = p.op.type }
  local row, vector = w.loop("block_k_" .. x.name, "unrolled", x.block), w.loop("block_" .. x.name, "vectorized", x.vector)
  d.statement {
    "bring " .. x.name, loops = w.joined(path, { row, vector }), when = x.transposed, stores = held { row, vector },
    reads = { gemm_nest.in_memory(p, product, x, x.first + line + vector, p.k_tile + k + row) },
  }
  local of, along = w.loop("line_" .. x.name, "unrolled", x.vector), w.loop("along_" .. x.name, "vectorized", x.block)
  d.statement {
    "turn " .. x.name, loops = w.joined(path, { of, along }), when = x.transposed, reads = { held { along, of } },
    stores = in_tile(d, x, line + of, k + along),
  }
end

local function fill(d, w, p, product, x)
  local load = w.cooperative("fill_" .. x.name, {
    elements = x.rows * x.row, row = x.row, vector = x.vector, threads = p.threads, lanes = p.thread_loops,
    most_copied = most_rounds_copied,
  })
  local line, k = load.along, load.across
  if x.along_k then line, k = k, line end
  d.statement {
    "fill " .. x.name, loops = w.joined(p.path, { p.tile }, load.loops), when = d.all(p.staged, d.none(x.transposed)),
    stores = in_tile(d, x, line, k),
    reads = { gemm_nest.in_memory(p, product, x, x.first + line, p.k_tile + k) },
  }
end

-- The fragments of one step.
local function load(d, w, p, product, x)
  local share, row = x.extent * p.k // p.lanes, x.along_k and p.k or x.extent
  local fragment = w.loop("fragment_" .. x.name, "unrolled", x.count)
  local element = w.loop("element_" .. x.name, "vectorized", share)
  local path = w.joined(p.path, { p.tile, p.step, fragment, element })
  local along, across = element + p.lane * (share % row), p.lane * (share // row)
  local line, k = along, across
  if x.along_k then line, k = k, line end
  line, k = line + x.unit * (x.count * x.extent) + fragment * x.extent, k + p.step * p.k
  x.buffer = d.buffer { "fragments_" .. x.name, x.count, share, memory = "registers", type = p.op.type }
  local to = x.buffer { fragment, element }
  d.statement {
    "load " .. x.name .. " from its tile", loops = path, when = p.staged, stores = to, reads = { in_tile(d, x, line, k) },
  }
  d.statement {
    "load " .. x.name, loops = path, when = d.none(p.staged), stores = to,
    reads = { gemm_nest.in_memory(p, product, x, x.first + line, p.k_tile + k) },
  }
end

local function products(d, w, p)
  local i, j = w.loop("i", "unrolled", p.a.count), w.loop("j", "unrolled", p.b.count)
  local element, is_whole = w.loop("element_c", "vectorized", p.m * p.n // p.lanes), p.sums == "i32"
  p.sum = d.buffer { "sums", p.a.count, p.b.count, p.m * p.n // p.lanes, memory = "registers", type = p.sums }
  d.statement {
    "products", loops = w.joined(p.path, { p.tile, p.step, i, j, element }), updates = p.sum { i, j, element },
    reads = { p.a.buffer { i, 0 }, p.b.buffer { j, 0 } },
    add = is_whole and 0 or p.k, multiply = is_whole and 0 or p.k, integer = is_whole and 2 * p.k or 0,
  }
end

-- A fragment of sums goes straight to C, element by element.
local function store_straight(d, w, p, product)
  local a, b, share = p.a, p.b, p.m * p.n // p.lanes
  local i, j = w.loop("straight_row", "unrolled", a.count), w.loop("straight_column", "unrolled", b.count)
  local element = w.loop("straight_element", "vectorized", share)
  local path, from = w.joined(p.path, { i, j, element }), p.sum { i, j, element }
  local row = a.first + a.unit * (a.count * p.m) + i * p.m + p.lane * (share // p.n)
  local column = b.first + b.unit * (b.count * p.n) + j * p.n + p.lane * (share % p.n) + element
  gemm_nest.finish(d, w, p, product, { matrix = p.matrix, row = row, column = column }, {
    name = "store straight", loops = path, when = d.all(p.straight, d.none(d.less(1, p.parts))), from = from, add = 0,
    integer = 0,
  })
  gemm_nest.store_part(d, p, product, path, from, row, column, { name = "store a part straight", when = p.straight })
end

-- Or it goes through shared memory, then vectors of it to C.
local function store(d, w, p, product)
  local a, b, n, fragment = p.a, p.b, p.vector_c, p.m * p.n
  local i, j = w.loop("row", "unrolled", a.count), w.loop("column", "unrolled", b.count)
  local share, element = fragment // p.lanes, w.loop("finished_element", "vectorized", fragment // p.lanes)
  local each = w.loop("finished_vectors", "serial", d.ceil_div(fragment, n * p.lanes))
  local vector = w.loop("finished_vector", "vectorized", n)
  local through = d.none(p.straight)
  local finished = d.buffer {
    "finished_sum", a.units * b.units, p.m, p.n, memory = "shared", type = p.sums, used = through,
  }
  local unit = a.unit * b.units + b.unit
  d.statement {
    "finish", when = through, loops = w.joined(p.path, { i, j, element }), reads = { p.sum { i, j, element } },
    stores = finished { unit, p.lane * (share // p.n), p.lane * (share % p.n) + element },
  }
  local across, along = p.lane * (n // p.n) + each * (p.lanes * n // p.n), (p.lane + each * p.lanes) * n + vector
  local path, from = w.joined(p.path, { i, j, each, vector }), finished { unit, across, along }
  local row = a.first + a.unit * (a.count * p.m) + i * p.m + across
  local column = b.first + b.unit * (b.count * p.n) + j * p.n + along
  gemm_nest.finish(d, w, p, product, { matrix = p.matrix, row = row, column = column }, {
    name = "store", loops = path, when = d.none(p.straight, d.less(1, p.parts)), from = from, add = 0,
    integer = 0,
  })
  gemm_nest.store_part(d, p, product, path, from, row, column, { name = "store a part", when = through })
end

function coop_nest.add(d, product, s, shapes)
  local w = nest_words.of(d)
  local p = plan(d, w, product, s, shapes)
  p.a.unit, p.b.unit = w.loop("unit_rows", "thread_x", p.a.units), w.loop("unit_columns", "thread_x", p.b.units)
  p.lane = w.loop("lane", "thread_x", p.lanes)
  p.thread_loops = {
    { loop = p.lane, count = p.lanes }, { loop = p.b.unit, count = p.b.units }, { loop = p.a.unit, count = p.a.units },
  }
  gemm_nest.launch(d, w, p, product, s.walk, { p.a.unit, p.b.unit, p.lane })
  p.tile, p.step = w.loop("tile", "serial", p.tiles), w.loop("steps", "unrolled", p.steps)
  p.k_tile = p.tile * p.depth + p.part * (p.depth * p.tiles)
  for _, x in ipairs { p.a, p.b } do
    gemm_nest.memory(d, p, product, x)
    x.tile_buffer = d.buffer {
      "tile_" .. x.name, x.rows, x.pitch, memory = "shared", type = p.op.type, copies = d.choose(p.doubled, 2, 1),
      used = p.staged,
    }
    fill(d, w, p, product, x)
    if x.transposed then turn(d, w, p, product, x) end
  end
  load(d, w, p, product, p.a)
  load(d, w, p, product, p.b)
  products(d, w, p)
  store(d, w, p, product)
  store_straight(d, w, p, product)
  gemm_nest.reduce(d, w, p, product)
end

function coop_nest.declare(product, schedule, shapes)
  nest(function(c, d) coop_nest.add(d, product, schedule(c), shapes) end)
end

return coop_nest
