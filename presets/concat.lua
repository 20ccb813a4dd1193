-- presets/concat.lua: rows of two to four matrices, one behind the other (images nchw: channels of an image are a row)
local plain, plain_nest = include "plain.lua", include "plain_nest.lua"

local op = operator.concat {
  rows   = size("rows", device.is_cpu and 1 or 128),
  first  = size("first", 64 * 56 * 56),
  second = size("second", 64 * 56 * 56),
  third  = size("third", 0, 0), fourth = size("fourth", 0, 0),
  type   = choice("type", { "f32", "f16" }),
}

local parts, widest = {}, 0
for i, columns in ipairs { op.first, op.second, op.third, op.fourth } do
  if columns > 0 then
    parts[i] = { name = ({ "A", "B", "C", "D" })[i], columns = columns }
    while columns > 0 do widest, columns = columns, widest % columns end -- the greatest common divisor
  end
end

plain.parameters(widest)

local function grid(c) return plain.grid(op.rows, op.columns, c) end

-- In vectors.
local function places(c)
  local placed, first = {}, 0
  for i, part in ipairs(parts) do
    placed[i] = { name = part.name, columns = part.columns // c.vector, first = first }
    first = first + placed[i].columns
  end
  return placed
end

plain.kernel("concat.comp", op, grid, function(c)
  return { statements = 4 * c.each * #parts }
end, function(c) return { parts = places(c) } end)

-- What is read is told as if it were one matrix: each element is read once, and lies beside its neighbours.
nest(function(c, d)
  local g = plain_nest.grid(d, op.rows, op.columns, c)
  local x, y = d.buffer { "x", op.rows, op.columns, type = op.type }, d.buffer { "y", op.rows, op.columns, type = op.type }
  d.statement {
    "move", loops = g.w.joined(g.path, { g.vector }), stores = y { g.line, g.element }, reads = { x { g.line, g.element } },
  }
end)
