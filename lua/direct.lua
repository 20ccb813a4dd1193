-- Direct convolution: what a configuration means, derived once for constraints, resources and the template alike.
--
--     local p = direct.plan(op, schedule)    the sizes that follow from a schedule; op is what operator.conv2d returned
--     direct.constraints(op, plan)           declares what any plan(c) must satisfy
--     direct.kernels(op, plan)               declares resources and the kernel by plan(c)
--
-- The output has three axes: f (its channels, one for each filter), y and x. A workgroup computes `tile` neighbours of
-- each axis, an invocation `count` of them: `virtual` groups of `registers` neighbours, the groups `lanes * registers`
-- apart. The sum runs over three more, the channels and the window: c, y and x. Each of those is cut into tiles of
-- `tile` elements, a tile into steps of `step`; loops over tiles are the outer ones, those over steps the inner ones.
-- Input and weights are read straight from their buffers, or tile by tile through shared memory.
--
-- A depthwise convolution is the same with the channels of the input along f: filter i reads channel i / per_channel.
-- There a workgroup's filters may belong to different groups, in all others they belong to one.
--
-- Vectors lie along the channels in nhwc. In nchw they lie along the columns of the input, beginning at multiples of
-- their width: so all columns of the window must be in one step, for which of a vector's components counts to be known.
--
-- A schedule can `slide` down the rows: then the groups along y are no virtual ones but follow each other. An invocation
-- computes and stores one, and moves on to the next with those rows of the input in its registers that both read, so that
-- it loads each row once, however many rows it computes.

local arithmetic, glsl, epilogue = include "arithmetic.lua", include "glsl.lua", include "epilogue.lua"
local subgroups = include "subgroups.lua"
local ceil_div, widest, product = arithmetic.ceil_div, arithmetic.widest, arithmetic.product

local direct = {}

direct.stages = { "none", "shared" }

local most_rounds_copied = 16 -- a cooperative load of more rounds is a loop

local function widths(n) return ({ { 1 }, { 1, 2 }, [4] = { 1, 2, 4 } })[widest(n)] end

-- The vector widths with which the input can be read: those that divide its rows in memory.
function direct.widths(op)
  if op.layout == "nchw" then return widths(op.width) end
  return widths(direct.is_depthwise(op) and op.in_channels or op.in_channels // op.groups)
end

function direct.is_depthwise(op) return op.groups == op.in_channels end

-- The divisors of n up to `most`.
function direct.divisors(n, most)
  local found = {}
  for d = 1, math.min(n, most) do
    if n % d == 0 then found[#found + 1] = d end
  end
  return found
end

-- What of the window is in one tile: all of it, a row, or one element.
function direct.windows(op)
  local words = { "whole" }
  if op.kernel_h > 1 and op.kernel_w > 1 then words[2] = "row" end
  if op.kernel_h > 1 or op.kernel_w > 1 then words[#words + 1] = "element" end
  return words
end

function direct.window(op, word)
  return word == "whole" and op.kernel_h or 1, word == "element" and 1 or op.kernel_w
end

-- Invocations along f and along x that go together for what lies together in memory.
function direct.eights(op)
  if op.layout == "nchw" then return 1, 8 end
  return 8, 1
end

-- The smallest odd prime up to 7 that divides n, 1 where none does: images are seldom powers of two wide.
function direct.odd_part(n)
  return n % 3 == 0 and 3 or n % 5 == 0 and 5 or n % 7 == 0 and 7 or 1
end

-- Whether an invocation keeps rows of the input while it goes down: only where outputs have rows in common. Output i has
-- the row that output i + ahead had `every` elements of the window before.
function direct.slides(op)
  return op.kernel_h > direct.overlap(op).every and { "none", "rows" } or { "none" }
end

function direct.overlap(op)
  local common = arithmetic.gcd(op.stride, op.dilation)
  return { ahead = op.dilation // common, every = op.stride // common }
end

-- Of `registers` and `virtual` only what begins within the image, or the filters, of any invocation: compilers leave out
-- the rest, and so it is not declared, shared or loaded either. `unit` neighbours always stay together. Where an
-- invocation slides along the axis, it has `steps` groups that are neighbours, `own` outputs in all.
local function output_axis(lines, split, unit, slides)
  local lanes, registers = split[2], math.min(split[3], ceil_div(lines, unit)) * unit
  local groups = math.min(split[1], ceil_div(lines, lanes * registers))
  local virtual, steps = slides and 1 or groups, slides and groups or 1
  local own = steps * registers
  local tile = virtual * lanes * own
  return {
    lines = lines, virtual = virtual, lanes = lanes, registers = registers, steps = steps, own = own,
    count = virtual * registers, tile = tile, tiles = ceil_div(lines, tile), exact = lines % tile == 0,
  }
end

-- The rows of the input under a group of outputs that slides, counted from its first: those that it is the first to
-- read, and those that stay in registers from the groups before it, also where only later ones read them again.
local function add_slide(p, op, limit, explicit)
  local y, read, first, kept = p.y, {}, {}, {}
  local shift, last = y.registers * op.stride, (y.registers - 1) * op.stride + (op.kernel_h - 1) * op.dilation
  for i = 0, y.registers - 1 do
    for t = 0, op.kernel_h - 1 do read[i * op.stride + t * op.dilation] = true end
  end
  local function is_read(row, by) -- by an earlier group (shift) or a later one (-shift)
    while row >= 0 and row <= last do
      if read[row] then return true end
      row = row + by
    end
    return false
  end
  for row = 0, last do
    local before = is_read(row + shift, shift)
    if read[row] and not before then first[#first + 1] = row end
    if before and is_read(row, -shift) then kept[#kept + 1] = row end
  end
  local products = p.f.count * y.count * p.x.count * op.kernel_h * op.kernel_w
  local unrolled = y.steps > 1 and y.steps * products <= limit
  p.sliding = { shift = shift, first = first, kept = kept, unrolled = unrolled, copies = unrolled and explicit and y.steps or 1 }
  if p.sliding.copies == 1 then
    p.inner = { { axis = "down", count = y.steps, step = y.registers, length = y.own, hint = unrolled } }
    p.hint = unrolled
  end
end

-- Marks the inner loops that are unrolled. An unroll limit counts as in TVM 0.6 (unroll_loop.cc), from the innermost
-- loop outwards: a loop is unrolled if its body has no loop left and its iterations times the statements of the body
-- are at most `limit`. Loops over registers are always written out: sums are no array.
local function unroll(p, limit)
  local statements, innermost = p.f.count * p.y.count * p.x.count * p.k.c.step * p.k.y.step * p.k.x.step, true
  for i = 3, 1, -1 do
    local s = p.k[p.order[i]]
    s.steps = s.tile // s.step
    s.unrolled = innermost and s.steps > 1 and s.steps * statements <= limit
    if s.unrolled then statements = statements * s.steps end
    innermost = innermost and (s.unrolled or s.steps == 1)
  end
end

-- The loops around one block of products, from the outermost: those over tiles, then those over the steps of a tile.
-- `block` has how many elements of c, y and x one block is written out for.
local function add_loops(p, explicit)
  p.outer, p.inner, p.block = {}, {}, {}
  for _, axis in ipairs(p.order) do
    local s = p.k[axis]
    local copied = s.unrolled and explicit
    p.block[axis] = copied and s.tile or s.step
    if s.tiles > 1 then p.outer[#p.outer + 1] = { axis = axis, count = s.tiles, step = s.tile, length = s.length } end
    if s.steps > 1 and not copied then
      p.inner[#p.inner + 1] = { axis = axis, count = s.steps, step = s.step, length = s.tile, hint = s.unrolled }
      p.hint = p.hint or s.unrolled
    end
  end
end

-- How far the input of n outputs and t taps of the window reaches.
local function reach(op, n, t) return (n - 1) * op.stride + (t - 1) * op.dilation + 1 end

-- Whether an axis of the input is left on either side.
local function is_left(op, axis, window, size)
  return op.padding + op.extra > 0 or reach(op, axis.tiles * axis.tile, window) > size
end

local function add_rounds(x, threads)
  x.rounds = ceil_div(x.vectors, threads)
  x.looped = x.rounds > most_rounds_copied
end

-- A shared tile of the input lies as the input does: `lines` of `length` vectors, `pitch` apart.
local function add_input(p, op, s)
  local planar = op.layout == "nchw"
  local x = { staged = s.stage_input == "shared", vector = s.vector or 1 }
  x.leaves_y, x.leaves_x = is_left(op, p.y, op.kernel_h, op.height), is_left(op, p.x, op.kernel_w, op.width)
  x.shift = planar and -op.padding % x.vector or 0 -- columns before the first one, to begin at a whole vector
  x.channels = p.depthwise and p.f.tile // p.per_channel or p.k.c.tile
  x.rows = reach(op, p.y.tile, p.k.y.tile)
  x.columns = reach(op, p.x.tile, p.k.x.tile) + x.shift
  x.length = planar and ceil_div(x.columns, x.vector) or x.channels // x.vector
  x.lines = planar and x.channels * x.rows or x.rows * x.columns
  x.pitch = x.length + (s.pad or 0)
  x.chunks, x.vectors = x.lines * x.pitch, x.lines * x.length
  add_rounds(x, p.threads)
  p.input = x
end

-- A shared tile of the weights has a line for each tap (element of c, y and x), of chunks of neighbouring filters.
local function add_weights(p, op, s)
  local x = { staged = s.stage_weights == "shared" }
  x.vector = (op.layout == "nchw" or p.depthwise) and 1 or p.input.vector
  x.chunk = x.staged and widest(p.f.registers) or 1
  x.taps = p.k.c.tile * p.k.y.tile * p.k.x.tile
  x.pitch = p.f.tile // x.chunk + (s.pad or 0)
  x.chunks, x.vectors = x.taps * x.pitch, x.taps * p.f.tile // x.vector
  add_rounds(x, p.threads)
  p.weights = x
end

local function sum_axis(length, tile, step)
  return { length = length, tile = tile, tiles = length // tile, step = step }
end

-- The widest vector of outputs that are neighbours in memory and in registers.
local function output_vector(p, op)
  if op.layout == "nchw" then return widest(p.x.registers, op.out_width) end
  return widest(p.f.registers, op.out_channels // (p.depthwise and 1 or op.groups))
end

-- schedule: f, y, x { virtual, lanes, registers }, where registers count units: along the vectors so many outputs as
-- begin at whole vectors of the input, along f of a depthwise convolution all filters of a channel; tile_c, tile_y,
-- tile_x: tiles of the sum, divisors of its lengths, or window (a word of direct.windows) for the last two; stage_input, stage_weights; unroll (products); and where they differ
-- from the defaults: order ({ "c", "y", "x" }; of a depthwise one y and x alone), explicit ("hint"), vector (1), pad (0), depthwise (false), walk
-- ("image": workgroups go along the image first; else along f), slide ("none"; "rows", of a depthwise one, has the whole window in one step).
function direct.plan(op, s)
  local planar, vector, depthwise = op.layout == "nchw", s.vector or 1, s.depthwise or false
  local slides = s.slide == "rows"
  local per_channel = op.out_channels // op.in_channels
  local p = {
    order = depthwise and { "c", s.order[1], s.order[2] } or s.order or { "c", "y", "x" }, depthwise = depthwise, per_channel = per_channel, hint = false,
    glsl = glsl, epilogue = epilogue, sliding = false,
  }
  local f_unit = depthwise and per_channel * (planar and 1 or vector) or 1
  local x_unit = planar and vector // widest(vector, op.stride) or 1
  p.f = output_axis(depthwise and op.out_channels or op.out_channels // op.groups, s.f, f_unit)
  p.y, p.x = output_axis(op.out_height, s.y, 1, slides), output_axis(op.out_width, s.x, x_unit)
  p.threads = p.f.lanes * p.y.lanes * p.x.lanes
  p.lanes = planar and { "x", "y", "f" } or { "f", "x", "y" }
  p.walk = s.walk and s.walk ~= "image" and { "f", "x", "y" } or { "x", "y", "f" }
  p.tiles = { x = p.x.tiles, y = p.y.tiles, f = p.f.tiles * (depthwise and 1 or op.groups) }
  local rows, columns = s.tile_y, s.tile_x
  if s.window then rows, columns = direct.window(op, slides and "whole" or s.window) end
  p.k = {
    c = sum_axis(op.in_channels // op.groups, s.tile_c, (planar or depthwise) and 1 or vector),
    y = sum_axis(op.kernel_h, rows, slides and op.kernel_h or 1),
    x = sum_axis(op.kernel_w, columns, (slides or planar and vector > 1) and op.kernel_w or 1),
  }
  unroll(p, s.unroll)
  add_loops(p, s.explicit == "copies")
  if slides then add_slide(p, op, s.unroll, s.explicit == "copies") end
  add_input(p, op, s)
  add_weights(p, op, s)
  p.vector_out = output_vector(p, op)
  return p
end

local function vectors_fit(op, p)
  local vector = p.input.vector
  if op.layout == "nchw" then return vector == 1 or p.k.x.tile == op.kernel_w end
  return p.depthwise or p.k.c.tile % vector == 0
end

-- Whether what is staged is read by several invocations.
local function staging_pays(p)
  return not (p.input.staged and p.threads == 1) and not (p.weights.staged and p.y.lanes * p.x.lanes == 1)
end

-- A loop of n iterations takes n + 1 trips, as lavapipe counts them: the last one finds the end. Hints may be ignored.
local function loop_trips(p)
  local trips = 0
  for i = #p.inner, 1, -1 do trips = p.inner[i].count * (trips + 1) + 1 end
  for _, x in ipairs { p.input, p.weights } do
    if x.staged and x.looped then trips = trips + x.rounds + 1 end
  end
  for i = #p.outer, 1, -1 do trips = p.outer[i].count * (trips + 1) + 1 end
  return trips
end

-- Lines of the input, `width` elements each, that the outputs of an axis read for so many taps of the window.
local function lines_read(op, axis, taps, width)
  return axis.virtual * math.min(axis.registers * taps, ceil_div(reach(op, axis.registers, taps), width))
end

-- Vectors of one row of the input that an invocation reads for so many channels and columns of the window.
local function row_vectors(op, p, c, x)
  local along_x, along_c = p.input.vector, 1
  if op.layout == "nhwc" then along_x, along_c = along_c, along_x end
  return lines_read(op, p.x, x, along_x) * ceil_div(p.depthwise and p.f.count // p.per_channel or c, along_c)
end

-- A load that may be outside the image counts twice, a store that may be three times: a branch is around it. Rows that
-- stay in registers are loaded once and moved in each iteration.
local function statements(op, p)
  local function written_out(axis) return p.k[axis].unrolled and p.k[axis].tile or p.k[axis].step end
  local c, y, x = written_out("c"), written_out("y"), written_out("x")
  local steps = p.sliding and p.sliding.unrolled and p.y.steps or 1
  local outputs = steps * p.f.count * p.y.count * p.x.count
  local of_row, moves = row_vectors(op, p, c, x), 0
  local inputs = of_row * (p.sliding and #p.sliding.kept + steps * #p.sliding.first or lines_read(op, p.y, y, 1))
  if p.sliding and p.sliding.copies == 1 then moves = steps * #p.sliding.kept * of_row end
  if not p.input.staged and (p.input.leaves_y or p.input.leaves_x) then inputs = 2 * inputs end
  local weights = c * y * x * p.f.count // p.weights.chunk
  local stores = outputs // p.vector_out * (p.x.exact and 1 or 3)
  local fills = 0
  for _, operand in ipairs { p.input, p.weights } do
    if operand.staged then fills = fills + (operand.looped and 1 or operand.rounds) * (2 + operand.vector) end
  end
  return c * y * x * outputs + inputs + moves + weights + stores + fills
end

-- Workgroups along the three dimensions: images follow each other in the last.
local function groups(op, p)
  return { p.tiles[p.walk[1]], p.tiles[p.walk[2]], p.tiles[p.walk[3]] * op.batch }
end

-- Registers of an invocation beside the sums: weights and inputs of one element of the sum, and where the lines of a
-- block lie that may be outside of the image. Where an invocation slides they are the weights of the whole window and the
-- rows of the input under one group of outputs.
local function operands(op, p)
  local planar, vector = op.layout == "nchw", p.input.vector
  if p.sliding then
    local rows = #p.sliding.first + #p.sliding.kept
    return p.f.count * op.kernel_h * op.kernel_w + rows * row_vectors(op, p, 1, op.kernel_w) * vector
  end
  local weights = p.f.count * (p.weights.vector + ((p.f.exact or p.weights.staged) and 0 or 1))
  local lines = 0
  if not p.input.staged then
    lines = (p.input.leaves_y and lines_read(op, p.y, p.block.y, 1) or 0)
      + (p.input.leaves_x and lines_read(op, p.x, p.block.x, planar and vector or 1) or 0)
  end
  return weights + p.y.count * p.x.count * (planar and 1 or vector) + lines
end

local function resources_of(op, p)
  local bytes, bytes_out = glsl.bytes(op.type), glsl.bytes(glsl.output(op))
  local shared = 0
  if p.input.staged then shared = shared + bytes * p.input.vector * p.input.chunks end
  if p.weights.staged then shared = shared + bytes * p.weights.chunk * p.weights.chunks end
  return {
    invocations = { p[p.lanes[1]].lanes, p[p.lanes[2]].lanes, p[p.lanes[3]].lanes },
    groups = groups(op, p),
    shared_bytes = shared,
    accumulators = p.f.count * p.y.count * p.x.count,
    registers = p.f.count * p.y.count * p.x.count + operands(op, p),
    loop_trips = loop_trips(p),
    statements = statements(op, p),
    buffer_bytes = math.max(product(bytes, op.batch, op.in_channels, op.height, op.width),
      product(bytes, op.out_channels, op.in_channels // op.groups, op.kernel_h, op.kernel_w),
      product(bytes_out, op.batch, op.out_channels, op.out_height, op.out_width)),
  }
end

-- What all spaces with budgets ask of a plan.
function direct.constraints(op, plan)
  constraint("vectors divide what is loaded", function(c) return vectors_fit(op, plan(c)) end)
  constraint("only what is shared is staged", function(c) return staging_pays(plan(c)) end)
  constraint("whole subgroups", function(c) return plan(c).threads % subgroups.least == 0 end)
  if device.is_cpu then -- lavapipe translates about 1000 statements a second
    constraint("compiles quickly", function(c) return statements(op, plan(c)) <= 768 end)
  end
end

function direct.kernels(op, plan)
  resources(function(c) return resources_of(op, plan(c)) end)
  kernel {
    template = "conv_direct.comp",
    values = plan,
    subgroup = subgroups.choose(function(c) return plan(c).threads end),
  }
end

return direct
