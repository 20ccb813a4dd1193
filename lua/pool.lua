-- Max and average pools: the space that presets/maxpool.lua and presets/avgpool.lua share.
local plain = include "plain.lua"

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
end
