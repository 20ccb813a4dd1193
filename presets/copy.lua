-- presets/copy.lua: Y = X (flatten, reshape), Y = X transposed, or X rounded to another type
local glsl, plain, plain_nest = include "glsl.lua", include "plain.lua", include "plain_nest.lua"
local ceil_div, subgroups = include("arithmetic.lua").ceil_div, include "subgroups.lua"

local standard = device.is_cpu and 1024 or 8192
local fields = {
  rows      = size("rows", standard),
  columns   = size("columns", standard),
  transpose = choice("transpose", { "no", "yes" }),
  type      = choice("type", { "f32", "f16" }),
}
if fields.type == "f32" and fields.transpose == "no" then fields.to = choice("to", { "same", "bf16", "f8e4m3", "f8e5m2" }) end
local op = operator.copy(fields)

if op.transpose == "no" then
  local count = op.rows * op.columns
  plain.parameters(count)
  constraint("one line", function(c) return c.group[3] == 1 end)
  plain.kernel("elementwise.comp", op, function(c) return plain.grid(1, count, c) end, function(c)
    return { accumulators = c.vector, statements = 3 * c.each }
  end)
  plain_nest.elementwise(op, count, { "x" }, {})
  return
end

-- A workgroup transposes one tile: reads it along the rows of X, writes it along the rows of Y.
param.tile        = factors(4096, 3) -- unused, rows, columns of X
param.invocations = discrete { 32, 64, 128, 256 }
param.stage       = categorical { "shared", "none" }
param.pad         = discrete { 0, 1 } -- elements after each row of a shared tile

local plan = derived(function(c)
  local p = { rows = c.tile[2], columns = c.tile[3] }
  p.pitch = p.columns + c.pad
  p.each = p.rows * p.columns // c.invocations
  p.down, p.across = ceil_div(op.rows, p.rows), ceil_div(op.columns, p.columns)
  p.groups = plain.groups(p.down * p.across)
  p.stored = glsl.vector(op.type, 1)
  return p
end)

constraint("all invocations work", function(c) return c.tile[2] * c.tile[3] >= c.invocations end)
constraint("short enough", function(c) return plan(c).each <= 32 end)
constraint("only what is shared is padded", function(c) return c.stage == "shared" or c.pad == 0 end)

resources(function(c)
  local p = plan(c)
  return {
    groups = p.groups,
    invocations = { c.invocations },
    shared_bytes = c.stage == "shared" and glsl.bytes(op.type) * p.rows * p.pitch or 0,
    statements = 6 * p.each,
  }
end)

kernel {
  template = "transpose.comp",
  values = function(c) return { glsl = glsl, plan = plan(c) } end,
  subgroup = subgroups.choose(function(c) return c.invocations end),
}

nest(function(c, d)
  local rows, columns = c.tile[2], c.tile[3]
  local w, path, block_column, block_row = plain_nest.blocks(d, d.ceil_div(op.columns, columns), d.ceil_div(op.rows, rows))
  local thread = w.loop("thread_x", "thread_x", c.invocations)
  local is_shared = d.is(c.stage, "shared")
  local x, y = d.buffer { "x", op.rows, op.columns, type = op.type }, d.buffer { "y", op.columns, op.rows, type = op.type }
  local tile = d.buffer { "tile", rows, columns + c.pad, memory = "shared", type = op.type, used = is_shared }
  path[#path + 1] = thread
  -- Elements of a tile, one after the other in lines of `line`: how far along and across.
  local function copy(name, line)
    local each = w.loop(name, "virtual", rows * columns // c.invocations)
    local along = thread + each * (c.invocations % line)
    local across = thread * d.choose(d.equal(line, 1), 1, 0) + each * (c.invocations // line)
    return w.joined(path, { each }), along, across
  end
  local reading, column, row = copy("read", columns)
  local from = x { block_row * rows + row, block_column * columns + column }
  d.statement { "read", loops = reading, when = is_shared, stores = tile { row, column }, reads = { from } }
  local writing, down, right = copy("write", rows)
  local to = y { block_column * columns + right, block_row * rows + down }
  d.statement { "write", loops = writing, when = is_shared, stores = to, reads = { tile { down, right } } }
  d.statement {
    "transpose", loops = writing, when = d.none(is_shared), stores = to,
    reads = { x { block_row * rows + down, block_column * columns + right } },
  }
end)
