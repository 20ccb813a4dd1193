-- The loop nest of gemm.comp and reduce.comp, for a schedule in symbols.
--
--     gemm_nest.declare(product, schedule)    product, and what schedule(c) returns: see gemm_plan.lua
--     gemm_nest.add(d, product, s)            the same as a part of a nest, for what schedule(c) returned
--
-- What the nest of gemm_coop.comp shares with it: gemm_nest.launch and so on. It follows gemm_plan.lua line by line: what is derived there for one configuration is a formula here. A gathered
-- operand counts as the matrix that it is seen as.

local glsl, nest_words = include "glsl.lua", include "nest_words.lua"

local gemm_nest = {}

local most_rounds_copied, reduce_group = 16, { 32, 8 } -- see gemm_plan.lua

local function operand(d, w, name, place, lines, split, stage)
  local virtual, lanes, registers = split[1], split[2], split[3]
  local tile = virtual * lanes * registers
  return {
    name = name, place = place, lines = lines, along_k = place.along_k, gather = place.gather,
    virtual = virtual, lanes = lanes, registers = registers, count = virtual * registers, tile = tile,
    tiles = d.ceil_div(lines, tile), staged = w.is(stage, "shared", "prefetch", "double"),
    doubled = w.is(stage, "double"),
  }
end

-- Vectors in memory, chunks in registers and shared tiles.
local function add_widths(d, w, p, x, s)
  local in_tile, in_registers = x.along_k and p.depth or x.tile, x.along_k and p.step or x.registers
  local neighbours = d.choose(x.staged, in_tile, in_registers)
  x.vector = s["vector_" .. x.name] or d.min(w.widest(neighbours), x.place.widest)
  local bare = x.along_k and 1 or x.gather and w.widest(x.registers) or x.vector
  x.chunk = d.choose(x.staged, w.widest(x.registers), bare)
  x.pitch = x.tile // x.chunk + (s.pad or 0)
  local chunks, aligned = p.depth * x.pitch, d.ceil_div(16, x.chunk * (glsl.bytes(p.op.type) * p.together_k))
  x.shared = d.ceil_div(chunks + w.when(x.doubled, chunks), aligned) * aligned * (x.chunk * p.together_k) -- elements of one matrix
end

local function plan(d, w, product, s)
  local p = { op = product.op, parts = s.split_k or 1, together = s.together or 1, sums = glsl.sums(product.op) }
  p.together_k = s.dot and d.choose(w.is(s.dot, "packed"), 4, 1) or 1 -- what counts as one element of K is four then
  p.a = operand(d, w, "a", product.a, product.N, s.rows, s.stage_a)
  p.b = operand(d, w, "b", product.b, product.M, s.columns, s.stage_b)
  p.threads = p.a.lanes * p.b.lanes
  local elements = s.depth[2]
  p.elements_of_k = product.K // p.together_k
  if s.dot and product.a.blocks then -- steps of whole runs, with their scales (quads.lua)
    local packed = w.is(s.dot, "packed")
    elements = d.choose(packed, d.max(s.depth[2] // 8, 1) * 9, s.depth[2])
    p.elements_of_k = d.choose(packed, product.K // 32 * 9, product.K)
  end
  p.depth = s.depth[1] * elements
  local unroll = s.unroll // (p.a.count * p.b.count)
  p.step = s.cut and d.divisor(elements, unroll) or elements
  p.steps = p.depth // p.step
  p.unrolled = d.divisor(p.steps, unroll // p.step)
  p.tiles = d.ceil_div(p.elements_of_k, p.depth * p.parts)
  add_widths(d, w, p, p.a, s)
  add_widths(d, w, p, p.b, s)
  p.vector_c = s.vector_c or d.min(w.widest(p.b.registers), product.result.widest)
  return p
end

-- Loops that all of the first pass is in, and the matrix, part and tile of C that they make. Workgroups that go along
-- the columns first have rows as their x. `threads`: loops over invocations; what of them is one matrix's: p.z.
function gemm_nest.launch(d, w, p, product, walk, threads)
  local turned = walk and d.is(walk, "columns") or false
  local l = {
    matrix = w.loop("matrix", "block_z", d.ceil_div(product.matrices, p.together)),
    part = w.loop("part", "block_z", p.parts),
    rows = w.loop("rows", "block_y", d.choose(turned, 1, p.a.tiles)),
    columns = w.loop("columns", "block_x", d.choose(turned, 1, p.b.tiles)),
    columns_y = walk and w.loop("columns_y", "block_y", d.choose(turned, p.b.tiles, 1)),
    rows_x = walk and w.loop("rows_x", "block_x", d.choose(turned, p.a.tiles, 1)),
  }
  p.path = { l.matrix, l.part, l.rows, l.columns }
  if walk then p.path = w.joined(p.path, { l.columns_y, l.rows_x }) end
  p.path = w.joined(p.path, threads)
  p.matrix, p.part = l.matrix * p.together + (p.z or 0), l.part
  p.a.first = (walk and l.rows + l.rows_x or l.rows) * p.a.tile
  p.b.first = (walk and l.columns + l.columns_y or l.columns) * p.b.tile
end

local function matrices_of(place, product)
  if place.from_matrix == 0 then return 1 end
  return place.cycle and place.cycle < product.matrices and place.cycle or product.matrices
end

function gemm_nest.memory(d, p, product, x)
  local place, name = x.place, "matrix_" .. x.name
  local pitch = not x.gather and place.pitch or x.along_k and product.K or x.lines
  x.memory = d.buffer {
    name, matrices_of(place, product), x.along_k and x.lines or product.K, pitch, type = p.op.type,
  }
end

function gemm_nest.in_memory(p, product, x, line, k)
  local matrix = matrices_of(x.place, product) == 1 and 0 or p.matrix
  return x.along_k and x.memory { matrix, line, k } or x.memory { matrix, k, line }
end

local function in_tile(p, x, line, k, one)
  if not one then return x.tile_buffer { p.z * x.shared + k * (x.pitch * x.chunk) + line } end
  return x.tile_buffer { p.z * x.shared + k * (x.pitch * x.chunk * p.together_k) + line * p.together_k + one }
end

-- The loop over the four, if there may be some; element k of K, in single ones.
local function ones(w, p, name)
  if p.packs then return w.loop(name, "vectorized", p.together_k) end
end

local function single(p, k, one) return one and k * p.together_k + one or k end

-- The cooperative load of a tile.
local function fill(d, w, p, product, x)
  local load = w.cooperative("fill_" .. x.name, {
    elements = p.depth * x.tile, row = x.along_k and p.depth or x.tile, vector = x.vector, threads = p.threads,
    lanes = p.lanes,
    most_copied = most_rounds_copied,
  })
  local line, k = load.along, load.across
  if x.along_k then line, k = k, line end
  local one = ones(w, p, "fill_one_of_" .. x.name)
  d.statement {
    "fill " .. x.name, loops = w.joined(p.path, { p.tile }, load.loops, { one }), when = x.staged,
    stores = in_tile(p, x, line, k, one),
    reads = { gemm_nest.in_memory(p, product, x, x.first + line, single(p, p.k_tile + k, one)) },
  }
end

-- The registers of one step, from the shared tile or straight from memory.
local function load(d, w, p, product, x)
  local along_k = x.along_k and d.none(x.staged) or false
  local wide = d.choose(along_k, x.vector, 1) -- elements of K at once; else x.chunk lines
  local k, k_vector = w.loop("k_of_" .. x.name, "unrolled", p.step // wide), w.loop("k_vector_" .. x.name, "vectorized", wide)
  local virtual = w.loop("virtual_" .. x.name, "virtual", x.virtual)
  local register = w.loop("register_" .. x.name, "unrolled", x.registers // x.chunk)
  local vector = w.loop("vector_" .. x.name, "vectorized", x.chunk)
  local one = ones(w, p, "one_of_" .. x.name)
  local path = w.joined(p.path, { p.tile, p.i, p.j, virtual, register, k, k_vector, vector }, { one })
  local element, here = k * wide + k_vector, register * x.chunk + vector
  local line = virtual * (x.lanes * x.registers) + x.lane * x.registers + here
  local from = (p.i * p.unrolled + p.j) * p.step + element
  x.buffer = d.buffer { "registers_" .. x.name, p.step, x.count, memory = "registers", type = glsl.products(p.op) }
  local to = x.buffer { element, virtual * x.registers + here }
  d.statement {
    "load " .. x.name .. " from its tile", loops = path, when = x.staged, stores = to, reads = { in_tile(p, x, line, from, one) },
  }
  if p.early then -- of the first tile; each step then loads the next one's, the last step in vain
    d.statement {
      "load " .. x.name .. " early", loops = w.joined(p.path, { virtual, register, k, k_vector, vector }, { one }),
      when = d.all(x.staged, p.early), stores = to, reads = { in_tile(p, x, line, element, one) },
    }
  end
  d.statement {
    "load " .. x.name, loops = path, when = d.none(x.staged), stores = to,
    reads = { gemm_nest.in_memory(p, product, x, x.first + line, single(p, p.k_tile + from, one)) },
  }
end

-- Few products' sums in halves go into the sums in floats, after each step or tile.
local function widen(d, w, p, few, after)
  local line, column = w.loop("widened_line", "unrolled", p.a.count), w.loop("widened_column", "unrolled", p.b.count)
  local function add(name, loops)
    d.statement {
      "widen each " .. name, loops = w.joined(p.path, { p.tile }, loops, { line, column }), when = d.is(after, name),
      updates = p.sum { line, column }, reads = { few { line, column } }, add = 1,
    }
  end
  add("step", { p.i, p.j })
  add("tile", {})
end

local function products(d, w, p, order, widened)
  local a, b = p.a, p.b
  local n, m, at_k = w.place(order, "n"), w.place(order, "m"), w.place(order, "k")
  local n_virtual, n_register = w.loop("n_virtual", "virtual", a.virtual, n), w.loop("n", "unrolled", a.registers, n)
  local m_virtual = w.loop("m_virtual", "virtual", b.virtual, m)
  local m_register = w.loop("m", "unrolled", b.registers // b.chunk, m)
  local k, vector = w.loop("k", "unrolled", p.step, at_k), w.loop("m_vector", "vectorized", b.chunk)
  local line, column = n_virtual * a.registers + n_register, m_virtual * b.registers + m_register * b.chunk + vector
  p.sum = d.buffer { "sums", a.count, b.count, memory = "registers", type = p.sums }
  local is_whole, added = p.sums == "i32", p.sum
  if widened then added = d.buffer { "few", a.count, b.count, memory = "registers", type = glsl.products(p.op) } end
  d.statement {
    "products",
    loops = w.joined(p.path, { p.tile, p.i, p.j, n_virtual, n_register, m_virtual, m_register, k, vector }, { ones(w, p, "one") }),
    updates = added { line, column }, reads = { a.buffer { k, line }, b.buffer { k, column } },
    add = is_whole and 0 or 1, multiply = is_whole and 0 or 1, integer = is_whole and 2 or 0,
  }
  if widened then widen(d, w, p, added, widened) end
end

-- What becomes of a sum in row `row` and column `column` of C.
function gemm_nest.finish(d, w, p, product, place, fields)
  local op, result = product.op, product.result
  local output = glsl.output(op)
  local by_rows = result.bias == "rows"
  p.result = p.result or d.buffer { "matrix_c", matrices_of(result, product), product.N, result.pitch, type = output }
  local matrix = product.matrices ~= 1 and place.matrix or 0 -- a formula is not 1
  if op.bias == "add" and not p.bias then
    p.bias = d.buffer { "bias", matrices_of(result.bias_place, product), by_rows and product.N or product.M, type = output }
  end
  if op.residual == "add" and not p.residual then
    p.residual = d.buffer { "residual", matrices_of(result, product), product.N, result.pitch, type = output }
  end
  local of_bias = matrices_of(result.bias_place, product) == 1 and 0 or matrix
  local e = w.epilogue(op, {
    bias = p.bias and p.bias { of_bias, by_rows and place.row or place.column },
    residual = p.residual and p.residual { matrix, place.row, place.column },
  })
  d.statement {
    fields.name, loops = fields.loops, when = fields.when, stores = p.result { matrix, place.row, place.column },
    reads = w.joined({ fields.from }, e.reads), add = e.add + fields.add, multiply = e.multiply, compare = e.compare,
    integer = e.integer + fields.integer,
  }
end

-- A part of the sum, of a split product, for the second pass; `way`, where it is one of several: { name = , when = }.
function gemm_nest.store_part(d, p, product, path, from, row, column, way)
  local is_split = d.less(1, p.parts)
  p.scratch = p.scratch or d.buffer {
    "parts", product.matrices, p.parts, product.N, product.M, type = glsl.wide(p.sums), used = is_split,
  }
  d.statement {
    way and way.name or "store a part", loops = path, when = way and d.all(is_split, way.when) or is_split,
    stores = p.scratch { p.matrix, p.part, row, column }, reads = { from },
  }
end

local function store(d, w, p, product)
  local a, b = p.a, p.b
  local row_virtual, row = w.loop("row_virtual", "virtual", a.virtual), w.loop("row", "unrolled", a.registers)
  local virtual, column = w.loop("column_virtual", "virtual", b.virtual), w.loop("column", "unrolled", b.registers // p.vector_c)
  local vector = w.loop("column_vector", "vectorized", p.vector_c)
  local path = w.joined(p.path, { row_virtual, row, virtual, column, vector })
  local here = column * p.vector_c + vector
  local from = p.sum { row_virtual * a.registers + row, virtual * b.registers + here }
  local in_row = a.first + row_virtual * (a.lanes * a.registers) + a.lane * a.registers + row
  local in_column = b.first + virtual * (b.lanes * b.registers) + b.lane * b.registers + here
  local is_split = d.less(1, p.parts)
  gemm_nest.finish(d, w, p, product, { matrix = p.matrix, row = in_row, column = in_column }, {
    name = "store", loops = path, when = d.none(is_split), from = from, add = 0, integer = 0,
  })
  gemm_nest.store_part(d, p, product, path, from, in_row, in_column)
end

-- The second pass of a split product.
function gemm_nest.reduce(d, w, p, product)
  local n = product.result.widest
  local matrix = w.loop("reduce_matrix", "block_z", product.matrices)
  local y = w.loop("reduce_y", "block_y", d.ceil_div(product.N, reduce_group[2]))
  local x = w.loop("reduce_x", "block_x", d.ceil_div(product.M // n, reduce_group[1]))
  local row, column = w.loop("reduce_row", "thread_y", reduce_group[2]), w.loop("reduce_column", "thread_x", reduce_group[1])
  local part, vector = w.loop("reduce_part", "unrolled", p.parts), w.loop("reduce_vector", "vectorized", n)
  local place = { matrix = matrix, row = y * reduce_group[2] + row, column = (x * reduce_group[1] + column) * n + vector }
  local sum, is_split = d.buffer { "whole_sum", n, memory = "registers", type = glsl.wide(p.sums) }, d.less(1, p.parts)
  local path = { matrix, y, x, row, column }
  d.statement {
    "load parts", loops = w.joined(path, { part, vector }), when = is_split, updates = sum { vector },
    reads = { p.scratch { matrix, part, place.row, place.column } },
  }
  local is_whole, additions = p.sums == "i32", p.parts - 1
  gemm_nest.finish(d, w, p, product, place, {
    name = "reduce", loops = w.joined(path, { vector }), when = is_split, from = sum { vector },
    add = is_whole and 0 or additions, integer = is_whole and additions or 0,
  })
end

-- The loops over the invocations of a matrix, as p.lanes with the fastest first, and an invocation's lanes by them: row by
-- row or, if s.lanes is not 0, subgroup by subgroup along x.
local function invocations(d, w, p, s)
  local function lane(name, kind, count) return { loop = w.loop(name, kind, count), count = count } end
  local of_warp = s.lanes and d.less(0, s.lanes) or false
  local y = lane("thread_y", "thread_y", s.lanes and d.choose(of_warp, 1, p.a.lanes) or p.a.lanes)
  local x = lane("thread_x", "thread_x", s.lanes and d.choose(of_warp, 1, p.b.lanes) or p.b.lanes)
  p.a.lane, p.b.lane, p.lanes = y.loop, x.loop, { x, y }
  if not s.lanes then return end
  local rows = d.max(d.min(s.lanes, p.a.lanes, s.subgroup), d.ceil_div(s.subgroup, p.b.lanes))
  local columns = s.subgroup // rows
  local function part(name, count) return lane(name, "thread_x", d.choose(of_warp, count, 1)) end
  local column, row = part("warp_column", columns), part("warp_row", rows)
  local across, down = part("warps_across", p.b.lanes // columns), part("warps_down", p.a.lanes // rows)
  p.lanes = { x, y, column, row, across, down }
  p.a.lane, p.b.lane = y.loop + down.loop * rows + row.loop, x.loop + across.loop * columns + column.loop
end

-- Within nest(function(c, d) ... end), for a schedule s.
function gemm_nest.add(d, product, s)
  local w = nest_words.of(d)
  local p = plan(d, w, product, s)
  p.packs = s.dot and true or false
  p.early = s.fragments and w.is(s.fragments, "early")
  p.z = w.loop("thread_z", "thread_z", p.together)
  invocations(d, w, p, s)
  local threads = { p.z }
  for i = #p.lanes, 1, -1 do threads[#threads + 1] = p.lanes[i].loop end
  gemm_nest.launch(d, w, p, product, s.walk, threads)
  p.tile = w.loop("tile", "serial", p.tiles)
  p.i, p.j = w.loop("steps", "serial", p.steps // p.unrolled), w.loop("unrolled_steps", "unrolled", p.unrolled)
  p.k_tile = p.tile * p.depth + p.part * (p.depth * p.tiles)
  for _, x in ipairs { p.a, p.b } do
    gemm_nest.memory(d, p, product, x)
    x.tile_buffer = d.buffer {
      "tile_" .. x.name, p.together * x.shared, memory = "shared", type = p.op.type, used = x.staged,
    }
    fill(d, w, p, product, x)
  end
  load(d, w, p, product, p.a)
  load(d, w, p, product, p.b)
  products(d, w, p, s.order, s.widen)
  store(d, w, p, product)
  gemm_nest.reduce(d, w, p, product)
  d.unroll(s.unroll)
end

function gemm_nest.declare(product, schedule)
  nest(function(c, d) gemm_nest.add(d, product, schedule(c)) end)
end

return gemm_nest
