-- presets/conv.lua: direct convolution over the eight parameters of the OpEvo paper, and nothing else
local conv2d, direct = include "conv2d.lua", include "direct.lua"
local direct_nest = include "direct_nest.lua"

local op = conv2d.declare { in_channels = 64, out_channels = 64, height = 28, width = 28, kernel = 3, padding = 1 }

param.tile_f  = factors(op.out_channels // op.groups, 4) -- workgroups, virtual threads, invocations, registers
param.tile_y  = factors(op.out_height, 4)                -- the same for rows
param.tile_x  = factors(op.out_width, 4)                 -- and columns
param.tile_rc = factors(op.in_channels // op.groups, 2)  -- tiles through shared memory, channels of a tile
param.tile_ry = factors(op.kernel_h, 2)                  -- the same for rows of the window
param.tile_rx = factors(op.kernel_w, 2)                  -- and columns

param.unroll   = discrete { 0, 125, 256 }                -- products that an unrolled loop has at most
param.explicit = categorical { "hint", "copies" }

-- The paper's schedule for the rest: input and weights through shared tiles, channels outermost.
local function schedule(c)
  local f, y, x = c.tile_f, c.tile_y, c.tile_x
  return {
    f = { f[2], f[3], f[4] }, y = { y[2], y[3], y[4] }, x = { x[2], x[3], x[4] },
    tile_c = c.tile_rc[2], tile_y = c.tile_ry[2], tile_x = c.tile_rx[2],
    stage_input = "shared", stage_weights = "shared", unroll = c.unroll, explicit = c.explicit,
  }
end

direct.kernels(op, derived(function(c) return direct.plan(op, schedule(c)) end))
direct_nest.declare(op, schedule)
