-- The loop nest of conv_direct.comp, for a schedule in symbols.
--
--     direct_nest.declare(op, schedule, words)    op, and what schedule(c) returns: see direct.lua; words: of its window
--
-- It follows direct.lua: what is derived there for one configuration is a formula here. Where virtual groups of outputs
-- read the same input and the dilation does not divide the stride, what they share counts twice. Where a schedule slides,
-- the rows that a group reads first are numbered behind those that it finds in registers.

local arithmetic, glsl = include "arithmetic.lua", include "glsl.lua"
local nest_words, direct = include "nest_words.lua", include "direct.lua"

local direct_nest = {}

local most_rounds_copied = 16 -- see direct.lua

local function output_axis(d, lines, split, unit, slides)
  local lanes, registers = split[2], d.min(split[3], arithmetic.ceil_div(lines, unit)) * unit
  local groups = d.min(split[1], d.ceil_div(lines, lanes * registers))
  local virtual, steps = d.choose(slides, 1, groups), d.choose(slides, groups, 1)
  local own = steps * registers
  local tile = virtual * lanes * own
  return {
    lines = lines, virtual = virtual, lanes = lanes, registers = registers, steps = steps, own = own,
    count = virtual * registers, tile = tile, tiles = d.ceil_div(lines, tile),
  }
end

local function sum_axis(length, tile, step, place)
  return { length = length, tile = tile, tiles = length // tile, step = step, steps = tile // step, place = place }
end

-- What of the three, c, y and x, stands at place n of the order.
local function at_place(d, k, n, field)
  return d.choose(d.equal(k.c.place, n), k.c[field], d.choose(d.equal(k.y.place, n), k.y[field], k.x[field]))
end

-- Which inner loops are unrolled, the innermost first, and how many elements of the sum are written out in one block.
local function unroll(d, p, s, copies)
  local statements = p.f.count * p.y.count * p.x.count * p.k.c.step * p.k.y.step * p.k.x.step
  local innermost, unrolled = true, {}
  for n = 2, 0, -1 do
    local steps = at_place(d, p.k, n, "steps")
    unrolled[n] = d.all(innermost, d.less(1, steps), d.none(d.less(s.unroll, steps * statements)))
    statements = statements * d.choose(unrolled[n], steps, 1)
    innermost = d.all(innermost, d.any(unrolled[n], d.equal(steps, 1)))
  end
  for _, axis in ipairs { "c", "y", "x" } do
    local k = p.k[axis]
    k.unrolled = d.choose(d.equal(k.place, 0), unrolled[0], d.choose(d.equal(k.place, 1), unrolled[1], unrolled[2]))
    k.copied = d.all(k.unrolled, copies)
    k.block = d.choose(k.copied, k.tile, k.step)
  end
end

local function reach(op, n, t) return (n - 1) * op.stride + (t - 1) * op.dilation + 1 end

local function add_input(d, p, op, s)
  local x = { staged = p.w.is(s.stage_input or "none", "shared"), vector = p.vector, pad = s.pad or 0 }
  x.shift = p.planar and -op.padding % p.vector or 0
  x.channels = p.depthwise and p.f.tile // p.per_channel or p.k.c.tile
  x.rows, x.columns = reach(op, p.y.tile, p.k.y.tile), reach(op, p.x.tile, p.k.x.tile) + x.shift
  x.length = p.planar and d.ceil_div(x.columns, x.vector) or x.channels // x.vector
  x.lines = p.planar and x.channels * x.rows or x.rows * x.columns
  p.input = x
end

local function add_weights(d, p, s)
  local x = { staged = p.w.is(s.stage_weights or "none", "shared") }
  x.vector = (p.planar or p.depthwise) and 1 or p.vector
  x.chunk = d.choose(x.staged, p.w.widest(p.f.registers), 1)
  x.taps = p.k.c.tile * p.k.y.tile * p.k.x.tile
  x.pitch = p.f.tile // x.chunk + (s.pad or 0)
  p.weights = x
end

-- Rows and columns of the window in one tile.
local function window(d, w, op, s, words)
  if not s.window then return s.tile_y, s.tile_x end
  local function is(word)
    for _, known in ipairs(words) do
      if known == word then return w.is(s.window, word) end
    end
    return false
  end
  return d.choose(is("whole"), op.kernel_h, 1), d.choose(is("element"), 1, op.kernel_w)
end

-- Where an invocation slides: the rows under a group of outputs that stay from those before, and those that it reads.
local function add_slide(d, p, op, s)
  local overlap, y = direct.overlap(op), p.y
  p.kept = overlap.ahead * math.max(0, op.kernel_h - overlap.every)
  p.first = y.registers * math.min(overlap.every, op.kernel_h)
  local products = p.f.count * y.count * p.x.count * (op.kernel_h * op.kernel_w)
  p.unrolled = d.none(d.less(s.unroll, y.steps * products))
end

local function plan(d, w, op, s, words)
  local planar, depthwise, vector = op.layout == "nchw", s.depthwise or false, s.vector or 1
  local p = { d = d, w = w, planar = planar, depthwise = depthwise, vector = vector }
  p.slides = s.slide and #direct.slides(op) > 1 and w.is(s.slide, "rows") or false
  p.per_channel = op.out_channels // op.in_channels
  local f_unit = depthwise and p.per_channel * (planar and 1 or vector) or 1
  local x_unit = planar and vector // d.min(vector, arithmetic.widest(op.stride)) or 1
  p.f = output_axis(d, depthwise and op.out_channels or op.out_channels // op.groups, s.f, f_unit, false)
  p.y, p.x = output_axis(d, op.out_height, s.y, 1, p.slides), output_axis(d, op.out_width, s.x, x_unit, false)
  p.threads = p.f.lanes * p.y.lanes * p.x.lanes
  local function place(axis)
    if depthwise then return axis == "c" and 0 or 1 + w.place(s.order, axis) end
    return w.place(s.order or { "c", "y", "x" }, axis)
  end
  local rows, columns = window(d, w, op, s, words)
  rows, columns = d.choose(p.slides, op.kernel_h, rows), d.choose(p.slides, op.kernel_w, columns)
  local all_columns = d.any(p.slides, planar and d.less(1, vector))
  p.k = {
    c = sum_axis(op.in_channels // op.groups, s.tile_c, (planar or depthwise) and 1 or vector, place("c")),
    y = sum_axis(op.kernel_h, rows, d.choose(p.slides, op.kernel_h, 1), place("y")),
    x = sum_axis(op.kernel_w, columns, d.choose(all_columns, op.kernel_w, 1), place("x")),
  }
  unroll(d, p, s, w.is(s.explicit, "copies"))
  if p.slides then add_slide(d, p, op, s) end
  add_input(d, p, op, s)
  add_weights(d, p, s)
  local neighbours = planar and op.out_width or op.out_channels // (depthwise and 1 or op.groups)
  p.vector_out = d.min(w.widest(planar and p.x.registers or p.f.registers), arithmetic.widest(neighbours))
  return p
end

-- Launched loops ------------------------------------------------------------------------------------------------------

-- Workgroups go along x, y, f, or along f, x, y: the loops of both ways, one of them of single iterations.
local function launch(p, op, walk)
  local w, d = p.w, p.d
  local groups = p.depthwise and 1 or op.groups
  local filters_first = walk and d.none(w.is(walk, "image")) or false
  p.path = { w.loop("batch", "block_z", op.batch) }
  p.image, p.group = p.path[1], 0
  local function add(axis, kind, name, way)
    local loop = w.loop(name, kind, d.choose(way, axis == "group" and groups or p[axis].tiles, 1))
    p.path[#p.path + 1] = loop
    if axis == "group" then p.group = p.group + loop else p[axis].block = (p[axis].block or 0) + loop end
  end
  local function add_way(way, suffix, kinds)
    add("group", kinds.f, "group" .. suffix, way)
    for _, axis in ipairs { "f", "y", "x" } do add(axis, kinds[axis], "block_" .. axis .. suffix, way) end
  end
  add_way(d.none(filters_first), "", { x = "block_x", y = "block_y", f = "block_z" })
  if walk then add_way(filters_first, "_filters_first", { f = "block_x", x = "block_y", y = "block_z" }) end
  local lanes = p.planar and { "x", "y", "f" } or { "f", "x", "y" }
  p.lanes = {}
  for i, axis in ipairs(lanes) do
    local lane = w.loop("lane_" .. axis, "thread_" .. string.sub("xyz", i, i), p[axis].lanes)
    p[axis].lane, p.lanes[i] = lane, { loop = lane, count = p[axis].lanes }
    p.path[#p.path + 1] = lane
  end
end

-- The loops of the sum: over tiles, and within them over steps, as loops and unrolled on request. All are in the order
-- that a schedule gives, those over steps behind those over tiles, and what is written out behind both.
local function loops_of_sum(p)
  local w, d = p.w, p.d
  local outer, inner = {}, {}
  for _, axis in ipairs { "c", "y", "x" } do
    local k = p.k[axis]
    k.outer = w.loop(axis .. "_tiles", "serial", k.tiles, k.place)
    local steps = w.loop(axis .. "_steps", "serial", d.choose(k.unrolled, 1, k.steps), k.place + 3)
    local hinted = w.loop(axis .. "_unrolled", "unrolled", d.choose(d.all(k.unrolled, d.none(k.copied)), k.steps, 1), k.place + 3)
    k.within = (steps + hinted) * k.step
    outer[#outer + 1], inner[#inner + 1] = k.outer, steps
    inner[#inner + 1] = hinted
  end
  p.outer, p.inner = w.joined(p.path, outer), w.joined(p.path, outer, inner)
  p.down, p.steps = 0, {}
  if p.slides then
    p.steps[1] = w.loop("down_steps", "serial", d.choose(p.unrolled, 1, p.y.steps))
    p.steps[2] = w.loop("down_unrolled", "unrolled", d.choose(p.unrolled, p.y.steps, 1))
    p.down = (p.steps[1] + p.steps[2]) * p.y.registers
  end
end

-- Memory --------------------------------------------------------------------------------------------------------------

-- Dimensions or indices in the order of memory.
local function placed(p, image, c, y, x)
  if p.planar then return { image, c, y, x } end
  return { image, y, x, c }
end

local function buffer(p, name, type, dims)
  return p.d.buffer { name, dims[1], dims[2], dims[3], dims[4], type = type }
end

local function buffers(p, op)
  p.inputs = buffer(p, "inputs", op.type, placed(p, op.batch, op.in_channels, op.height, op.width))
  p.filters = buffer(p, "weights", op.type, placed(p, op.out_channels, op.in_channels // op.groups, op.kernel_h, op.kernel_w))
  p.outputs = buffer(p, "outputs", glsl.output(op), placed(p, op.batch, op.out_channels, op.out_height, op.out_width))
  local x, y, sums = p.input, p.weights, glsl.sums(op)
  p.tile_inputs = p.d.buffer {
    "tile_inputs", x.lines, (x.length + x.pad) * x.vector, memory = "shared", type = op.type, used = x.staged,
  }
  p.tile_weights = p.d.buffer { "tile_weights", y.taps, y.pitch * y.chunk, memory = "shared", type = op.type, used = y.staged }
  p.sum = p.d.buffer { "sums", p.f.count, p.y.count, p.x.count, memory = "registers", type = sums }
end

-- The first row or column of the input under an invocation's outputs, and the first of its workgroup.
local function under(p, op, axis) return (p[axis].block * p[axis].tile) * op.stride + p.k[axis].outer * (p.k[axis].tile * op.dilation) end

local function first_channel(p)
  if p.depthwise then return p.f.block * (p.f.tile // p.per_channel) end
  return p.group * p.k.c.length + p.k.c.outer * p.k.c.tile
end

local function first_filter(p) return p.group * p.f.lines + p.f.block * p.f.tile end

-- Cooperative loads ---------------------------------------------------------------------------------------------------

local function fill_inputs(p, op)
  local x = p.input
  local row = x.length * x.vector
  local load = p.w.cooperative("fill_inputs", {
    elements = x.lines * row, row = row, vector = x.vector, threads = p.threads, lanes = p.lanes,
    most_copied = most_rounds_copied,
  })
  local channel, y, column = load.across, 0, load.along -- of lines, which go over channels and rows, or rows and columns
  if not p.planar then channel, column = load.along, load.across end
  p.d.statement {
    "fill inputs", loops = p.w.joined(p.outer, load.loops), when = x.staged,
    stores = p.tile_inputs { load.across, load.along },
    reads = { p.inputs(placed(p, p.image, first_channel(p) + channel, under(p, op, "y") + y, under(p, op, "x") + column)) },
  }
end

local function fill_weights(p)
  local x, k = p.weights, p.k
  local load = p.w.cooperative("fill_weights", {
    elements = x.taps * p.f.tile, row = x.taps, vector = x.vector, threads = p.threads, lanes = p.lanes,
    most_copied = most_rounds_copied,
  })
  local c, columns = k.c.outer * k.c.tile, k.x.outer * k.x.tile
  if p.planar then columns = columns + load.along else c = c + load.along end
  p.d.statement {
    "fill weights", loops = p.w.joined(p.outer, load.loops), when = x.staged,
    stores = p.tile_weights { load.along, load.across },
    reads = { p.filters(placed(p, first_filter(p) + load.across, c, k.y.outer * k.y.tile, columns)) },
  }
end

-- Registers -----------------------------------------------------------------------------------------------------------

-- How many different lines of the input the outputs of an axis read for `taps` elements of the window: for each of
-- these, the outputs whose line an earlier one has not had. Output i has the line that output i + ahead had `every`
-- taps before; among its own group, or in the next one.
local function lines_read(p, op, axis, taps, most)
  local d, overlap, lines = p.d, direct.overlap(op), 0
  local ahead, every = overlap.ahead, overlap.every
  for t = 0, most - 1 do
    local again = 0
    if t >= every then
      local of_next = ahead == 1 and d.none(d.less(t // every, axis.registers * axis.lanes - axis.registers + 1)) or false
      again = axis.virtual * d.max(0, axis.registers - ahead) + p.w.when(of_next, axis.virtual - 1)
    end
    lines = lines + p.w.when(d.less(t, taps), axis.count - again)
  end
  return lines
end

-- The same in vectors along the columns, all of the window's columns being read.
local function vectors_read(p, op)
  local d, axis = p.d, p.x
  local of_group = d.ceil_div(p.input.shift + reach(op, axis.registers, op.kernel_w), p.vector)
  local shared = d.max(0, of_group - axis.lanes * axis.registers * op.stride // p.vector)
  return axis.virtual * of_group - (axis.virtual - 1) * shared
end

-- What one statement for tiles and one for buffers load: `rows` of the input on a path, `below` the first of all.
local function load_rows(p, op, load)
  local d, w, k = p.d, p.w, p.k
  local along_x = p.planar and p.vector or 1
  local channel = w.loop(load.prefix .. "channel", "unrolled", p.planar and load.channels or load.channels // p.vector)
  local row = w.loop(load.prefix .. "row", "unrolled", load.rows)
  local column = w.loop(load.prefix .. "column", "unrolled", load.columns)
  local vector = w.loop(load.prefix .. "vector", "vectorized", p.vector)
  local path = w.joined(load.path, { channel, row, column, vector })
  local c = p.planar and channel or channel * p.vector + vector
  local at_column = p.planar and column * along_x + vector or column
  local to = p.input_register { c, load.to + row, at_column }
  local lane_y, lane_x = p.y.lane * (p.y.own * op.stride), p.x.lane * (p.x.registers * op.stride)
  local of_lane = p.depthwise and c + p.f.lane * (p.f.registers // p.per_channel) or c
  of_lane = p.depthwise and of_lane or of_lane + k.c.within
  local y, x = lane_y + k.y.within * op.dilation + load.below + row, lane_x + k.x.within * op.dilation + at_column
  local tile = p.planar and { of_lane * p.input.rows + y, x } or { y * p.input.columns + x, of_lane }
  d.statement {
    load.name .. " from their tile", loops = path, when = d.all(load.when, p.input.staged), stores = to,
    reads = { p.tile_inputs(tile) },
  }
  d.statement {
    load.name, loops = path, when = d.all(load.when, d.none(p.input.staged)), stores = to,
    reads = { p.inputs(placed(p, p.image, first_channel(p) + of_lane, under(p, op, "y") + y, under(p, op, "x") + x)) },
  }
end

local function load_inputs(p, op)
  local d, k = p.d, p.k
  local columns = lines_read(p, op, p.x, k.x.block, op.kernel_w)
  if p.planar then columns = d.choose(d.equal(p.vector, 1), columns, vectors_read(p, op)) end
  local channels = p.depthwise and p.f.count // p.per_channel or k.c.block
  local rows, kept = lines_read(p, op, p.y, k.y.block, op.kernel_h), p.slides and p.w.when(p.slides, p.kept) or 0
  if p.slides then rows = d.choose(p.slides, p.first, rows) end
  p.input_register = d.buffer {
    "input_registers", channels, kept + rows, columns * (p.planar and p.vector or 1), memory = "registers",
    type = glsl.sums(op),
  }
  if p.slides then
    load_rows(p, op, {
      name = "load inputs that stay", prefix = "stay_", when = p.slides, path = p.inner, channels = channels, rows = p.kept,
      columns = columns, to = 0, below = 0,
    })
  end
  load_rows(p, op, {
    name = "load inputs", prefix = "load_", when = true, path = p.w.joined(p.inner, p.steps), channels = channels, rows = rows,
    columns = columns, to = kept, below = p.down * op.stride + kept,
  })
end

local function load_weights(p, op)
  local d, w, k, x = p.d, p.w, p.k, p.weights
  local wide = d.choose(x.staged, 1, x.vector) -- elements of c at once; else x.chunk filters
  local c, c_vector = w.loop("tap_c", "unrolled", k.c.block // wide), w.loop("tap_c_vector", "vectorized", wide)
  local y, column = w.loop("tap_y", "unrolled", k.y.block), w.loop("tap_x", "unrolled", k.x.block)
  local virtual = w.loop("filter_virtual", "virtual", p.f.virtual)
  local filter = w.loop("filter", "unrolled", p.f.registers // x.chunk)
  local vector = w.loop("filter_vector", "vectorized", x.chunk)
  local path = w.joined(p.inner, { virtual, filter, y, column, c, c_vector, vector })
  local in_c, here = c * wide + c_vector, filter * x.chunk + vector
  p.weight_register = d.buffer {
    "weight_registers", p.f.count, k.c.block, k.y.block, k.x.block, memory = "registers", type = glsl.sums(op),
  }
  local to = p.weight_register { virtual * p.f.registers + here, in_c, y, column }
  local of_lane = virtual * (p.f.lanes * p.f.registers) + p.f.lane * p.f.registers + here
  local tap_c, tap_y, tap_x = k.c.within + in_c, k.y.within + y, k.x.within + column
  local tap = p.planar and tap_c * (k.y.tile * k.x.tile) + tap_y * k.x.tile + tap_x
    or tap_y * (k.x.tile * k.c.tile) + tap_x * k.c.tile + tap_c
  d.statement {
    "load weights from their tile", loops = path, when = x.staged, stores = to, reads = { p.tile_weights { tap, of_lane } },
  }
  d.statement {
    "load weights", loops = path, when = d.none(x.staged), stores = to,
    reads = {
      p.filters(placed(p, first_filter(p) + of_lane, k.c.outer * k.c.tile + tap_c, k.y.outer * k.y.tile + tap_y,
        k.x.outer * k.x.tile + tap_x)),
    },
  }
end

-- Loops over the registers of the outputs; along one axis they are vectors.
local function registers(p, prefix, vector_axis, width)
  local w, loops, index = p.w, {}, {}
  for _, axis in ipairs { "f", "y", "x" } do
    local wide = axis == vector_axis and width or 1
    local virtual = w.loop(prefix .. axis .. "_virtual", "virtual", p[axis].virtual)
    local register = w.loop(prefix .. axis, "unrolled", p[axis].registers // wide)
    loops[#loops + 1], index[axis] = virtual, { virtual = virtual, here = register * wide }
    loops[#loops + 1] = register
  end
  local vector = w.loop(prefix .. "vector", "vectorized", width)
  loops[#loops + 1] = vector
  index[vector_axis].here = index[vector_axis].here + vector
  return loops, index
end

local function products(p, op)
  local w, k = p.w, p.k
  local c, y = w.loop("c", "unrolled", k.c.block, k.c.place + 6), w.loop("window_y", "unrolled", k.y.block, k.y.place + 6)
  local x = w.loop("window_x", "unrolled", k.x.block, k.x.place + 6)
  local loops, at = registers(p, "product_", "f", p.weights.chunk)
  local function register(axis) return at[axis].virtual * p[axis].registers + at[axis].here end
  local channel = p.depthwise and at.f.virtual * (p.f.registers // p.per_channel) or c
  local is_whole = op.type == "i8"
  p.d.statement {
    "products", loops = w.joined(p.inner, p.steps, { c, y, x }, loops),
    updates = p.sum { register("f"), register("y"), register("x") },
    reads = {
      p.weight_register { register("f"), c, y, x },
      p.input_register { channel, register("y") * op.stride + y * op.dilation, register("x") * op.stride + x * op.dilation },
    },
    add = is_whole and 0 or 1, multiply = is_whole and 0 or 1, integer = is_whole and 2 or 0,
  }
end

-- What an epilogue adds.
local function added(p, op)
  local type = glsl.output(op)
  if op.bias == "add" then p.bias = p.d.buffer { "bias", op.out_channels, type = type } end
  if op.residual == "add" then
    p.residual = buffer(p, "residual", type, placed(p, op.batch, op.out_channels, op.out_height, op.out_width))
  end
end

-- On a path, `down` outputs below the first.
local function store(p, op, on)
  local w, d = p.w, p.d
  local loops, at = registers(p, on.prefix, p.planar and "x" or "f", p.vector_out)
  local function register(axis) return at[axis].virtual * p[axis].registers + at[axis].here end
  local function output(axis)
    local a = p[axis]
    return a.block * a.tile + at[axis].virtual * (a.lanes * a.registers) + a.lane * a.own + at[axis].here
  end
  local f, y, x = output("f") + p.group * p.f.lines, output("y") + on.down, output("x")
  local elements = {}
  if op.bias == "add" then elements.bias = p.bias { f } end
  if op.residual == "add" then elements.residual = p.residual(placed(p, p.image, f, y, x)) end
  local e = w.epilogue(op, elements)
  d.statement {
    on.name, loops = w.joined(on.path, loops), when = on.when, stores = p.outputs(placed(p, p.image, f, y, x)),
    reads = w.joined({ p.sum { register("f"), register("y"), register("x") } }, e.reads),
    add = e.add, multiply = e.multiply, compare = e.compare, integer = e.integer,
  }
end

function direct_nest.declare(op, schedule, words)
  nest(function(c, d)
    local s = schedule(c)
    local p = plan(d, nest_words.of(d), op, s, words)
    launch(p, op, s.walk)
    loops_of_sum(p)
    buffers(p, op)
    fill_inputs(p, op)
    fill_weights(p)
    if p.slides then load_weights(p, op) end -- once, before it slides
    load_inputs(p, op)
    if not p.slides then load_weights(p, op) end
    products(p, op)
    added(p, op)
    if p.slides then
      local path = p.w.joined(p.inner, p.steps)
      store(p, op, { name = "store while sliding", prefix = "row_", path = path, when = p.slides, down = p.down })
    end
    store(p, op, { name = "store", prefix = "store_", path = p.path, when = d.none(p.slides), down = 0 })
    d.unroll(s.unroll)
  end)
end

return direct_nest
