-- presets/softmax.lua: Y = exp(X) divided by its sum, row by row
local arithmetic, plain, plain_nest = include "arithmetic.lua", include "plain.lua", include "plain_nest.lua"
local subgroups = include "subgroups.lua"

local op = operator.softmax {
  rows    = size("rows", device.is_cpu and 1024 or 32768),
  columns = size("columns", 1000),
  type    = choice("type", { "f32", "f16" }),
}

param.group  = factors(device.is_cpu and 256 or 1024, 3) -- unused, of one row, rows
param.vector = discrete(plain.widths(op.columns))
param.reads  = categorical { "once", "twice", "thrice" } -- of X: kept in registers; largest and sum at once; one by one
constraint("whole subgroups", function(c) return c.group[2] * c.group[3] >= subgroups.least end)

local most_kept = 64 -- elements in registers

-- A workgroup works on y rows, x invocations on each, which take every x-th vector.
local function grid(c)
  local g = { lines = op.rows, columns = op.columns // c.vector, x = c.group[2], y = c.group[3] }
  g.steps = arithmetic.ceil_div(g.columns, g.x)
  g.groups = plain.groups(arithmetic.ceil_div(op.rows, g.y))
  return g
end

constraint("a row fits registers", function(c) return c.reads ~= "once" or grid(c).steps * c.vector <= most_kept end)

local loops = { once = 0, twice = 2, thrice = 3 }

plain.kernel("softmax.comp", op, grid, function(c, g)
  local once = c.reads == "once"
  return {
    shared_bytes = g.x > 1 and 4 * g.x * g.y or 0,
    accumulators = (once and g.steps or 2) * c.vector,
    loop_trips = loops[c.reads] * (g.steps + 1),
    statements = (once and 8 * g.steps or 24) + 40,
  }
end)

nest(function(c, d)
  local x, y, vector = c.group[2], c.group[3], c.vector
  local w, path, _, block = plain_nest.blocks(d, 1, d.ceil_div(op.rows, y))
  local thread, row = w.loop("thread_x", "thread_x", x), w.loop("thread_y", "thread_y", y)
  path = w.joined(path, { thread, row })
  local once, twice = d.is(c.reads, "once"), d.is(c.reads, "twice")
  local steps = d.ceil_div(op.columns // vector, x)
  local function matrix(name) return d.buffer { name, op.rows, op.columns, type = op.type } end
  local from, to = matrix("x"), matrix("y")
  local kept = d.buffer { "kept", d.choose(once, steps, 2), vector, memory = "registers" }
  local whole = d.buffer { "of_row", 2, memory = "registers" }

  -- A pass over the row: its loops, and where its elements lie.
  local function pass(name)
    local loops, step = plain_nest.loop(w, d, name, steps, once)
    local here = w.loop(name .. "_vector", "vectorized", vector)
    return {
      loops = w.joined(path, loops, { here }), element = { block * y + row, (step * x + thread) * vector + here },
      register = kept { step, here },
    }
  end

  -- A tree over the invocations of a row, after the components of a vector.
  local part = d.buffer { "part", y, x, memory = "shared", used = d.less(1, x) }
  local function reduce(name, field, index)
    local levels = 0
    for i = 1, 10 do levels = levels + d.none(d.less(x, 1 << i)) end
    local level, is_shared = w.loop(name .. "_level", "unrolled", levels), d.less(1, x)
    local mine = part { row, thread }
    local tree = { name .. " of two", loops = w.joined(path, { level }), when = is_shared, stores = mine, reads = { mine, mine } }
    local fold = { name .. " of a vector", loops = path, stores = whole { index } }
    tree[field], fold[field] = 1, vector - 1
    d.statement(fold)
    d.statement { name .. " of an invocation", loops = path, when = is_shared, stores = mine, reads = { whole { index } } }
    d.statement(tree)
    d.statement { name .. " of a row", loops = path, when = is_shared, stores = whole { index }, reads = { part { row, 0 } } }
  end

  local first, second, third = pass("first"), pass("second"), pass("third")
  d.statement {
    "largest", loops = first.loops, updates = first.register, reads = { from(first.element) }, compare = 1,
    add = w.when(twice, 3), multiply = w.when(twice, 1), special = w.when(twice, 2),
  }
  reduce("largest", "compare", 0)
  d.statement { "rescale", loops = path, when = twice, stores = whole { 1 }, add = vector, multiply = vector, special = vector }
  d.statement {
    "sum of what is kept", loops = second.loops, when = once, updates = second.register, add = 2, special = 1,
  }
  d.statement {
    "sum", loops = second.loops, when = d.is(c.reads, "thrice"), stores = second.register, reads = { from(second.element) },
    add = 2, special = 1,
  }
  reduce("sum", "add", 1)
  d.statement {
    "divide what is kept", loops = third.loops, when = once, stores = to(third.element), reads = { third.register }, divide = 1,
  }
  d.statement {
    "divide", loops = third.loops, when = d.none(once), stores = to(third.element), reads = { from(third.element) },
    add = 1, special = 1, divide = 1,
  }
end)
