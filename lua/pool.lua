-- Max and average pools: the space that presets/maxpool.lua and presets/avgpool.lua share.
local plain, plain_nest = include "plain.lua", include "plain_nest.lua"

return function(op)
  local nchw = op.layout == "nchw"

  plain.parameters(nchw and 1 or op.channels)
  param.unroll = categorical { "none", "row", "window" }

  local function grid(c)
    if nchw then return plain.grid(op.batch * op.channels * op.out_height, op.out_width, c) end
    return plain.grid(op.batch * op.out_height * op.out_width, op.channels, c)
  end

  local window = op.window
  local trips = { none = (window + 1) * (window + 1), row = window + 1, window = 0 }
  local copies = { none = 1, row = window, window = window * window }
  plain.kernel("pool.comp", op, grid, function(c)
    return {
      accumulators = c.vector,
      loop_trips = c.each * trips[c.unroll],
      statements = c.each * (8 + 3 * copies[c.unroll]),
    }
  end)

  nest(function(c, d)
    local pixels = op.batch * op.out_height * op.out_width
    local lines, row = nchw and op.batch * op.channels * op.out_height or pixels, nchw and op.out_width or op.channels
    local g = plain_nest.grid(d, lines, row, c)
    local rows_of_images = op.batch * op.height * (nchw and op.channels or 1)
    local x = d.buffer { "x", rows_of_images, op.width, nchw and 1 or op.channels, type = op.type }
    local y = d.buffer { "y", lines, row, type = op.type }
    local value = d.buffer { "value", c.each, c.vector, memory = "registers" } { g.path[#g.path], g.vector }
    local rows, down = plain_nest.loop(g.w, d, "window_y", window, d.is(c.unroll, "window"))
    local columns, right = plain_nest.loop(g.w, d, "window_x", window, d.is(c.unroll, "row", "window"))
    -- Lines of the output are rows of images, or pixels: those of one row follow each other.
    local from = nchw and x { g.line * op.stride + down, g.element * op.stride + right, 0 }
      or x { down, g.line * op.stride + right, g.element }
    local largest = op.kind == "max_pool"
    d.statement {
      "window", loops = g.w.joined(g.path, rows, columns, { g.vector }), updates = value, reads = { from },
      add = largest and 0 or 1, compare = largest and 1 or 0,
    }
    d.statement {
      "store", loops = g.w.joined(g.path, { g.vector }), stores = y { g.line, g.element }, reads = { value },
      divide = largest and 0 or 1,
    }
  end)
end
