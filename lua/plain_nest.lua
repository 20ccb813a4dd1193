-- Loop nests of kernels that do little with each element: what they share. The words are those of plain.lua.
--
--     nest(function(c, d)
--       local g = plain_nest.grid(d, lines, row, c)     loops over workgroups, invocations and an invocation's columns
--     end)
--
--     g.w, g.path            nest_words.lua; the loops, to which those of the kernel are added
--     g.vector               the loop over a vector, to be the innermost
--     g.line, g.element      the place of an element in lines of `row` elements

local nest_words, glsl = include "nest_words.lua", include "glsl.lua"

local plain_nest = {}

local most_groups = 65535 -- see plain.lua

-- Workgroups for `columns` by `lines` blocks, as plain.groups launches them. Where one dimension is too short, what they
-- work on goes down the lines, or along the only one.
local function blocks(w, d, columns, lines)
  local count = columns * lines
  local high = d.ceil_div(count, most_groups)
  local is_short = d.less(1, high)
  local wide = w.loop("block_columns", "block_x", d.choose(is_short, 1, columns))
  local down = w.loop("block_lines", "block_x", d.choose(is_short, 1, lines))
  local x = w.loop("blocks", "block_x", d.choose(is_short, d.ceil_div(count, high), 1))
  local y = w.loop("rows_of_blocks", "block_y", high)
  return { wide, down, x, y }, wide, down, x + y * d.ceil_div(count, high)
end

-- For tiles that are not of plain.grid: the loops, the column and the line of a block.
function plain_nest.blocks(d, columns, lines)
  local w = nest_words.of(d)
  local path, wide, down, far = blocks(w, d, columns, lines)
  return w, path, wide, down + far
end

function plain_nest.grid(d, lines, row, c)
  local w = nest_words.of(d)
  local x, y, each = c.group[2], c.group[3], c.each
  local path, wide, down, far = blocks(w, d, d.ceil_div(row // c.vector, x * each), d.ceil_div(lines, y))
  local thread_x, thread_y = w.loop("thread_x", "thread_x", x), w.loop("thread_y", "thread_y", y)
  local column = w.loop("each", "virtual", each)
  local vector = w.loop("vector", "vectorized", c.vector)
  local block, line = wide, down * y + thread_y
  if lines == 1 then block = block + far else line = line + far * y end
  return {
    w = w, path = w.joined(path, { thread_x, thread_y, column }), vector = vector, line = line,
    element = ((block * each + column) * x + thread_x) * c.vector + vector,
  }
end

-- A loop that is written out under a condition: both loops.
function plain_nest.loop(w, d, name, length, is_unrolled)
  local serial = w.loop(name, "serial", d.choose(is_unrolled, 1, length))
  local copies = w.loop(name .. "_copies", "unrolled", d.choose(is_unrolled, length, 1))
  return { serial, copies }, serial + copies
end

-- The nest of elementwise.comp: `operations` of an element, of one or two inputs.
function plain_nest.elementwise(op, count, inputs, operations)
  nest(function(c, d)
    local g = plain_nest.grid(d, 1, count, c)
    local reads = {}
    for i, name in ipairs(inputs) do reads[i] = d.buffer { name, count, type = op.type } { g.element } end
    local o = operations
    d.statement {
      "apply", loops = g.w.joined(g.path, { g.vector }), stores = d.buffer { "y", count, type = glsl.output(op) } { g.element },
      reads = reads, add = o.add, multiply = o.multiply, divide = o.divide, compare = o.compare, special = o.special,
    }
  end)
end

return plain_nest
