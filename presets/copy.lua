-- presets/copy.lua: Y = X (flatten, reshape), or Y = X transposed
local glsl, plain = include "glsl.lua", include "plain.lua"
local ceil_div = include("arithmetic.lua").ceil_div

local standard = device.is_cpu and 1024 or 8192
local op = operator.copy {
  rows      = size("rows", standard),
  columns   = size("columns", standard),
  transpose = choice("transpose", { "no", "yes" }),
  type      = choice("type", { "f32", "f16" }),
}

if op.transpose == "no" then
  local count = op.rows * op.columns
  plain.parameters(count)
  constraint("one line", function(c) return c.group[3] == 1 end)
  plain.kernel("elementwise.comp", op, function(c) return plain.grid(1, count, c) end, function(c)
    return { accumulators = c.vector, statements = 3 * c.each }
  end)
  return
end

-- A workgroup transposes one tile: reads it along the rows of X, writes it along the rows of Y.
param.tile        = factors(4096, 3) -- unused, rows, columns of X
param.invocations = discrete { 32, 64, 128, 256 }
param.stage       = categorical { "shared", "none" }
param.pad         = discrete { 0, 1 } -- elements after each row of a shared tile

local function plan(c)
  local p = { rows = c.tile[2], columns = c.tile[3] }
  p.pitch = p.columns + c.pad
  p.each = p.rows * p.columns // c.invocations
  p.down, p.across = ceil_div(op.rows, p.rows), ceil_div(op.columns, p.columns)
  p.groups = plain.groups(p.down * p.across)
  p.stored = glsl.vector(op.type, 1)
  return p
end

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

kernel { template = "transpose.comp", values = function(c) return { glsl = glsl, plan = plan(c) } end }
