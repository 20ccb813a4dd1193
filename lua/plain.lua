-- Kernels that do little with each element: elementwise, copies, pools, softmax, normalisation.
--
--     plain.parameters(row)                           group, each, vector: of rows of so many neighbours in memory
--     plain.grid(lines, row, c)                       who works on which element
--     plain.kernel("NAME.comp", op, grid, costs, more) resources and kernel; grid(c) as above, costs(c, grid) a table,
--                                                     more(c), if it is given, what else the template sees
--
-- The output is `lines` of `columns` vectors of `vector` neighbours. A workgroup works on a block of y lines and
-- x * each columns, an invocation on `each` columns that lie x apart.

local arithmetic, glsl, subgroups = include "arithmetic.lua", include "glsl.lua", include "subgroups.lua"
local ceil_div = arithmetic.ceil_div

local plain = {}

local most_groups = 65535 -- in one dimension, of any device

-- Workgroups in two dimensions, the first being the faster, because one may be too short.
function plain.groups(count)
  local high = ceil_div(count, most_groups)
  return { ceil_div(count, high), high }
end

-- The vector widths that divide n neighbours.
function plain.widths(n) return n % 4 == 0 and { 1, 2, 4 } or n % 2 == 0 and { 1, 2 } or { 1 } end

function plain.parameters(row)
  param.group  = factors(device.is_cpu and 256 or 1024, 3) -- unused, along the lines, across them
  param.each   = discrete { 1, 2, 4, 8 }
  param.vector = discrete(plain.widths(row))
  constraint("whole subgroups", function(c) return c.group[2] * c.group[3] >= subgroups.least end)
end

function plain.grid(lines, row, c)
  local g = { lines = lines, columns = row // c.vector, x = c.group[2], y = c.group[3], each = c.each }
  g.width = g.x * g.each
  g.blocks = ceil_div(g.columns, g.width) -- of a line
  g.groups = plain.groups(g.blocks * ceil_div(lines, g.y))
  return g
end

-- Templates see the grid as `grid`, the types of a vector in memory and in registers as `stored` and `number`, the output's element
-- as `result`.
function plain.kernel(template, op, grid, costs, more)
  resources(function(c)
    local g = grid(c)
    local r = costs(c, g)
    r.groups, r.invocations = g.groups, { g.x, g.y }
    return r
  end)
  kernel {
    template = template,
    subgroup = subgroups.choose(function(c) return c.group[2] * c.group[3] end),
    values = function(c)
      local values = more and more(c) or {}
      values.glsl, values.grid = glsl, grid(c)
      values.result = glsl.output(op)
      values.stored, values.number = glsl.vector(op.type, c.vector), glsl.vector("f32", c.vector)
      return values
    end,
  }
end

return plain
