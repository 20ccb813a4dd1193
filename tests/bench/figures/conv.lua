-- tests/bench/figures/conv.lua: presets/conv.lua with fewer sizes, each in few factors
local conv2d, direct = include "conv2d.lua", include "direct.lua"
local direct_nest = include "direct_nest.lua"

local op = conv2d.declare { in_channels = 3, out_channels = 16, height = 35, width = 35, kernel = 11, padding = 0 }

local wide = op.out_width % 9 == 0 and 3 or 1

param.tile_f  = factors(2, 4)                    -- workgroups, virtual threads, invocations in fours, registers
param.tile_x  = factors(op.out_width // wide, 4) -- the same for columns, invocations in threes where they are many
param.tile_rc = factors(op.in_channels, 2)       -- tiles through shared memory, channels of a tile
param.tile_ry = factors(op.kernel_h, 2)          -- the same for rows of the window

param.unroll   = discrete { 0, 125, 256 } -- products that an unrolled loop has at most
param.explicit = categorical { "hint", "copies" }

local function schedule(c)
  local f, x = c.tile_f, c.tile_x
  return {
    f = { f[2], 4 * f[3], f[4] }, y = { 1, 1, 1 }, x = { x[2], wide * x[3], x[4] },
    tile_c = c.tile_rc[2], tile_y = c.tile_ry[2], tile_x = op.kernel_w,
    stage_input = "shared", stage_weights = "shared", unroll = c.unroll, explicit = c.explicit,
  }
end

direct.kernels(op, derived(function(c) return direct.plan(op, schedule(c)) end))
direct_nest.declare(op, schedule)
