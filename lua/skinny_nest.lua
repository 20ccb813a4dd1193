-- The loop nest of skinny.comp and reduce.comp, for a schedule in symbols; it follows skinny.lua line by line.
--
--     skinny_nest.declare(product, schedule)    product, and what schedule(c) returns: see skinny.lua

local glsl, nest_words = include "glsl.lua", include "nest_words.lua"
local skinny, gemm_nest = include "skinny.lua", include "gemm_nest.lua"

local skinny_nest = {}

local most_levels = 10 -- of a tree

local function plan(d, w, product, s)
  local long, few = skinny.sides(product)
  local op = product.op
  local p = {
    op = op, sums = glsl.sums(op), wide = glsl.wide(glsl.sums(op)), parts = s.split_k, long = long, few = few,
    along_k = s.group[1], lanes = s.group[2], lines = s.lines, unroll = s.unroll, vector = s.vector,
    in_subgroup = w.is(s.reduce, "subgroup"),
    together_k = s.dot and d.choose(w.is(s.dot, "packed"), 4, 1) or 1, -- what counts as one element of K is four then
  }
  p.chunk = long.along_k and 1 or p.vector
  p.count = p.lines * p.chunk
  p.k_vector = (long.along_k and p.vector or 1) * p.together_k
  p.tile = p.lanes * p.count
  p.steps = d.ceil_div(product.K, p.parts * p.along_k * p.k_vector * p.unroll)
  p.partials = d.choose(p.in_subgroup, d.ceil_div(p.along_k, s.subgroup), p.along_k)
  local together = not few.along_k and few.lines or long.along_k and p.vector or p.unroll
  p.few_vector = d.min(w.widest(together), few.place.widest)
  p.swaps = d.all(p.in_subgroup, d.less(p.along_k, s.subgroup))
  return p
end

local function launch(d, w, p, product)
  local x, y = p.long.along_k and p.along_k or p.lanes, p.long.along_k and p.lanes or p.along_k
  p.matrix = w.loop("matrix", "block_z", product.matrices)
  p.part = w.loop("part", "block_z", p.parts)
  local tile = w.loop("tile", "block_x", d.ceil_div(p.long.lines, p.tile))
  local thread_y, thread_x = w.loop("thread_y", "thread_y", y), w.loop("thread_x", "thread_x", x)
  p.lane_k, p.lane = p.long.along_k and thread_x or thread_y, p.long.along_k and thread_y or thread_x
  p.path = { p.matrix, p.part, tile, thread_y, thread_x }
  p.first = tile * p.tile + p.lane * p.chunk
end

-- The loops of the sum, and an element of K by them; one vector along K, if there are such, is p.within.
local function along_k(w, p)
  p.step, p.turn = w.loop("step", "serial", p.steps), w.loop("turn", "unrolled", p.unroll)
  p.within = w.loop("within", "vectorized", p.k_vector)
  local lane, turn = p.k_vector, p.along_k * p.k_vector
  if not p.long.along_k then lane, turn = p.unroll, 1 end
  local part = p.steps * (p.along_k * p.k_vector * p.unroll)
  p.k = p.part * part + p.step * (p.along_k * p.k_vector * p.unroll) + p.lane_k * lane + p.turn * turn + p.within
end

local function load(d, w, p, product)
  local long, few, type = p.long, p.few, p.sums
  for _, x in ipairs { long, few } do gemm_nest.memory(d, p, product, x) end
  local line, vector = w.loop("line", "unrolled", p.lines), w.loop("line_vector", "vectorized", p.chunk)
  long.buffer = d.buffer { "registers_long", p.lines, p.chunk, p.unroll, p.k_vector, memory = "registers", type = type }
  d.statement {
    "load the matrix", loops = w.joined(p.path, { p.step, p.turn, line, p.within, vector }),
    stores = long.buffer { line, vector, p.turn, p.within },
    reads = { gemm_nest.in_memory(p, product, long, p.first + line * (p.lanes * p.chunk) + vector, p.k) },
  }
  local f = w.loop("few", "unrolled", few.lines)
  few.buffer = d.buffer { "registers_few", few.lines, p.unroll, p.k_vector, memory = "registers", type = type }
  d.statement {
    "load the few", loops = w.joined(p.path, { p.step, p.turn, f, p.within }), stores = few.buffer { f, p.turn, p.within },
    reads = { gemm_nest.in_memory(p, product, few, f, p.k) },
  }
end

local function products(d, w, p)
  local line, f = w.loop("n", "unrolled", p.lines), w.loop("m", "unrolled", p.few.lines)
  local vector = w.loop("n_vector", "vectorized", p.chunk)
  p.sum = d.buffer { "sums", p.lines, p.chunk, p.few.lines, memory = "registers", type = p.sums }
  local is_whole = p.sums == "i32"
  d.statement {
    "products", loops = w.joined(p.path, { p.step, p.turn, p.within, line, f, vector }), updates = p.sum { line, vector, f },
    reads = { p.long.buffer { line, vector, p.turn, p.within }, p.few.buffer { f, p.turn, p.within } },
    add = is_whole and 0 or 1, multiply = is_whole and 0 or 1, integer = is_whole and 2 or 0,
  }
end

-- Additions over the invocations along K: within subgroups, and through shared memory.
local function meet(d, w, p)
  local is_whole = p.sums == "i32"
  local levels = 0
  for i = 1, most_levels do levels = levels + d.none(d.less(p.partials, 1 << i)) end
  local swaps = 0
  for i = 1, most_levels do swaps = swaps + d.none(d.less(p.along_k, 1 << i)) end
  local function loops(name)
    local f, line, vector = w.loop(name .. "_few", "unrolled", p.few.lines), w.loop(name .. "_line", "unrolled", p.lines),
      w.loop(name .. "_vector", "vectorized", p.chunk)
    return f, line, vector
  end
  p.total = d.buffer { "totals", p.lines, p.chunk, p.few.lines, memory = "registers", type = p.wide }
  local f, line, vector = loops("subgroup")
  local swap = w.loop("swap", "unrolled", d.choose(p.swaps, swaps, 1))
  d.statement {
    "add up a subgroup", loops = w.joined(p.path, { f, line, vector, swap }), when = p.in_subgroup,
    updates = p.total { line, vector, f }, reads = { p.sum { line, vector, f } }, add = is_whole and 0 or 1,
    integer = is_whole and 1 or 0,
  }
  local meets = d.less(1, p.partials)
  p.shared = d.buffer {
    "part", p.lines, p.partials, p.lanes, p.chunk, memory = "shared", type = p.wide, used = meets,
  }
  local mine
  local function own(l, v) return p.shared { l, p.lane_k, p.lane, v } end
  f, line, vector = loops("share")
  d.statement {
    "share", loops = w.joined(p.path, { f, line, vector }), when = meets, stores = own(line, vector),
    reads = { p.sum { line, vector, f } },
  }
  f, line, vector = loops("level")
  local level = w.loop("level", "unrolled", levels)
  mine = own(line, vector)
  d.statement {
    "add of two", loops = w.joined(p.path, { f, level, line, vector }), when = meets, stores = mine, reads = { mine, mine },
    add = is_whole and 0 or 1, integer = is_whole and 1 or 0,
  }
  f, line, vector = loops("total")
  d.statement {
    "total", loops = w.joined(p.path, { f, line, vector }), when = meets, stores = p.total { line, vector, f },
    reads = { own(line, vector) },
  }
end

local function store(d, w, p, product)
  local f, line, vector = w.loop("store_few", "unrolled", p.few.lines), w.loop("store_line", "unrolled", p.lines),
    w.loop("store_vector", "unrolled", p.chunk)
  local path, from = w.joined(p.path, { f, line, vector }), p.total { line, vector, f }
  local of_long, is_split = p.first + line * (p.lanes * p.chunk) + vector, d.less(1, p.parts)
  local row, column = p.long.name == "a" and of_long or f, p.long.name == "a" and f or of_long
  gemm_nest.finish(d, w, p, product, { matrix = p.matrix, row = row, column = column }, {
    name = "store", loops = path, when = d.none(is_split), from = from, add = 0, integer = 0,
  })
  gemm_nest.store_part(d, p, product, path, from, row, column)
end

function skinny_nest.declare(product, schedule)
  nest(function(c, d)
    local w = nest_words.of(d)
    local p = plan(d, w, product, schedule(c))
    launch(d, w, p, product)
    along_k(w, p)
    load(d, w, p, product)
    products(d, w, p)
    meet(d, w, p)
    store(d, w, p, product)
    gemm_nest.reduce(d, w, p, product)
  end)
end

return skinny_nest
