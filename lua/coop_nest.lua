-- The loop nest of gemm_coop.comp, for a schedule in symbols: see coop.lua and gemm_nest.lua.
--
--     coop_nest.declare(product, schedule, shapes)    shapes: of the words that the schedule's `matrix` may be
--
-- A subgroup moves and multiplies a fragment together: an invocation's share counts, as if its elements followed each
-- other. The emulation, where each invocation does far more, counts as what it emulates.

local glsl, nest_words, gemm_nest = include "glsl.lua", include "nest_words.lua", include "gemm_nest.lua"

local coop_nest = {}

local row_bytes, most_rounds_copied = 16, 16 -- see coop.lua

-- A size of the shape that a word names.
local function size_of(d, word, shapes, field)
  local size = 0
  for name, shape in pairs(shapes) do size = d.choose(d.is(word, name), shape[field], size) end
  return size
end

local function operand(d, p, name, place, lines, extent, split, s)
  local units, count = split[1], split[2]
  local tile = units * count * extent
  local x = {
    name = name, place = place, lines = lines, along_k = place.along_k, extent = extent, units = units, count = count,
    tile = tile, tiles = d.ceil_div(lines, tile), vector = s["vector_" .. name],
  }
  x.row, x.rows = x.along_k and p.depth or tile, x.along_k and tile or p.depth
  x.pitch = (x.row + s.skew * (row_bytes // glsl.bytes(p.op.type))) // x.vector * x.vector
  return x
end

local function plan(d, w, product, s, shapes)
  local p = { op = product.op, sums = glsl.sums(product.op), parts = s.split_k, together = 1, lanes = s.lanes }
  p.m, p.n, p.k = size_of(d, s.matrix, shapes, "m"), size_of(d, s.matrix, shapes, "n"), size_of(d, s.matrix, shapes, "k")
  p.steps, p.depth = s.steps, s.steps * p.k
  p.staged, p.doubled = d.none(w.is(s.stage, "none")), w.is(s.stage, "double")
  p.straight = w.is(s.store, "straight")
  p.a = operand(d, p, "a", product.a, product.N, p.m, s.rows, s)
  p.b = operand(d, p, "b", product.b, product.M, p.n, s.columns, s)
  p.threads = p.lanes * p.a.units * p.b.units
  p.tiles = d.ceil_div(product.K, p.depth * p.parts)
  p.vector_c = d.min(product.result.widest, w.widest(p.n))
  return p
end

local function in_tile(x, line, k)
  return x.along_k and x.tile_buffer { line, k } or x.tile_buffer { k, line }
end

local function fill(d, w, p, product, x)
  local load = w.cooperative("fill_" .. x.name, {
    elements = x.rows * x.row, row = x.row, vector = x.vector, threads = p.threads, lanes = p.thread_loops,
    most_copied = most_rounds_copied,
  })
  local line, k = load.along, load.across
  if x.along_k then line, k = k, line end
  d.statement {
    "fill " .. x.name, loops = w.joined(p.path, { p.tile }, load.loops), when = p.staged, stores = in_tile(x, line, k),
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
    "load " .. x.name .. " from its tile", loops = path, when = p.staged, stores = to, reads = { in_tile(x, line, k) },
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

function coop_nest.declare(product, schedule, shapes)
  nest(function(c, d)
    local w, s = nest_words.of(d), schedule(c)
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
    end
    load(d, w, p, product, p.a)
    load(d, w, p, product, p.b)
    products(d, w, p)
    store(d, w, p, product)
    store_straight(d, w, p, product)
    gemm_nest.reduce(d, w, p, product)
  end)
end

return coop_nest
