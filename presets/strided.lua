-- presets/strided.lua: elements read in another order: Y[i,j,k,l] = X[offset + i s1 + j s2 + k s3 + l s4]
local plain, plain_nest = include "plain.lua", include "plain_nest.lua"

local standard = device.is_cpu and 64 or 256
local op = operator.strided { -- by itself: the channels of an image in four groups, shuffled
  count  = size("count", standard * 56 * 56),
  n1     = size("n1", 1), n2 = size("n2", standard // 4), n3 = size("n3", 4), n4 = size("n4", 56 * 56),
  s1     = size("s1", 0, 0), s2 = size("s2", 56 * 56, 0), s3 = size("s3", standard // 4 * 56 * 56, 0), s4 = size("s4", 1, 0),
  offset = size("offset", 0, 0),
  type   = choice("type", { "f32", "f16" }),
}

-- Vectors lie along the last axis, where that is contiguous in X and all others keep to whole vectors.
local widest = op.s4 == 1 and op.n4 or 1
for _, stride in ipairs { op.s1, op.s2, op.s3, op.offset, op.count } do
  while stride > 0 do widest, stride = stride, widest % stride end
end

plain.parameters(widest)

local lines = op.n1 * op.n2 * op.n3
local function grid(c) return plain.grid(lines, op.n4, c) end

plain.kernel("strided.comp", op, grid, function(c) return { statements = 8 * c.each } end)

-- Loop nests know lines, not the axes that they run over: the stride from one line to the next is told as that of the
-- innermost axis that has any length.
local from_line = op.n3 > 1 and op.s3 or op.n2 > 1 and op.s2 or op.s1
nest(function(c, d)
  local g = plain_nest.grid(d, lines, op.n4, c)
  local x, y = d.buffer { "x", op.count, type = op.type }, d.buffer { "y", lines, op.n4, type = op.type }
  d.statement {
    "move", loops = g.w.joined(g.path, { g.vector }), stores = y { g.line, g.element },
    reads = { x { g.line * from_line + g.element * op.s4 + op.offset } },
  }
end)
