-- presets/lrn.lua: local response normalisation: each element divided by a power of its neighbour channels' squares
local plain, plain_nest = include "plain.lua", include "plain_nest.lua"

local op = operator.lrn {
  batch    = size("batch", device.is_cpu and 1 or 128),
  channels = size("channels", 64),
  height   = size("height", 55),
  width    = size("width", 55),
  window   = size("window", 5),
  alpha    = number("alpha", 1e-4),
  beta     = number("beta", 0.75),
  bias_k   = number("bias_k", 2),
  layout   = choice("layout", { "nchw", "nhwc" }),
  type     = choice("type", { "f32", "f16" }),
}
local nchw, pixels = op.layout == "nchw", op.height * op.width

plain.parameters(nchw and pixels or 1)
param.unroll = categorical { "no", "yes" }

local function grid(c)
  if nchw then return plain.grid(op.batch * op.channels, pixels, c) end
  return plain.grid(op.batch * pixels, op.channels, c)
end

plain.kernel("lrn.comp", op, grid, function(c)
  local unrolled = c.unroll == "yes"
  return {
    accumulators = c.vector,
    loop_trips = unrolled and 0 or c.each * (op.window + 1),
    statements = c.each * (6 + 3 * (unrolled and op.window or 1)),
  }
end)

nest(function(c, d)
  local lines, row = nchw and op.batch * op.channels or op.batch * pixels, nchw and pixels or op.channels
  local g = plain_nest.grid(d, lines, row, c)
  local x, y = d.buffer { "x", lines, row, type = op.type }, d.buffer { "y", lines, row, type = op.type }
  local sum = d.buffer { "sum", c.each, c.vector, memory = "registers" } { g.path[#g.path], g.vector }
  local window, channel = plain_nest.loop(g.w, d, "window", op.window, d.is(c.unroll, "yes"))
  d.statement {
    "squares", loops = g.w.joined(g.path, window, { g.vector }), updates = sum, add = 1, multiply = 1,
    reads = { nchw and x { g.line + channel, g.element } or x { g.line, g.element + channel } },
  }
  d.statement {
    "normalise", loops = g.w.joined(g.path, { g.vector }), stores = y { g.line, g.element },
    reads = { sum, x { g.line, g.element } }, add = 1, multiply = 2, special = 1,
  }
end)
