-- presets/softmax.lua: Y = exp(X) divided by its sum, row by row
local arithmetic, plain = include "arithmetic.lua", include "plain.lua"

local op = operator.softmax {
  rows    = size("rows", device.is_cpu and 1024 or 32768),
  columns = size("columns", 1000),
  type    = choice("type", { "f32", "f16" }),
}

param.group  = factors(device.is_cpu and 256 or 1024, 3) -- unused, of one row, rows
param.vector = discrete(plain.widths(op.columns))
param.reads  = categorical { "once", "twice", "thrice" } -- of X: kept in registers; largest and sum at once; one by one
constraint("whole subgroups", function(c) return c.group[2] * c.group[3] >= device.subgroup_size end)

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
