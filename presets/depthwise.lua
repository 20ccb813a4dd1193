-- presets/depthwise.lua: each filter reads one channel of the input; `multiplier` filters a channel
local conv2d, direct = include "conv2d.lua", include "direct.lua"
local direct_nest = include "direct_nest.lua"

local op = conv2d.declare_depthwise {
  batch = device.is_cpu and 1 or 32, channels = device.is_cpu and 64 or 128,
  height = 56, width = 56, kernel = 3, padding = 1,
}

-- Budgets, not sizes: the first part is what is left out, so that any size can be tiled and few points ask too much.
local odd = direct.odd_part(op.out_width)
param.threads   = factors(device.is_cpu and 8 or 64, 4)            -- unused, channels, rows, columns (along memory times 8)
param.registers = factors((device.is_cpu and 16 or 32) * odd, 7)   -- unused, virtual and next channels, rows, columns
param.slide     = categorical(direct.slides(op))                   -- rows: not virtual ones, but one after the other
param.window    = categorical(direct.windows(op))                  -- what of the window is brought at once

param.stage_input   = categorical(direct.stages)
param.stage_weights = categorical(direct.stages)
param.pad           = discrete { 0, 1, 2 }                         -- after each line of a shared tile, in vectors
param.vector        = discrete(direct.widths(op))                  -- elements of the input that are read at once

param.order    = permutation { "y", "x" }                          -- loops over the window, the outer one first
param.unroll   = discrete { 0, 64, 256, 1024 }                     -- products that an unrolled loop has at most
param.explicit = categorical { "hint", "copies" }
param.walk     = categorical { "image", "channels" }               -- what workgroups that follow each other differ in

local function schedule(c)
  local t, r = c.threads, c.registers
  local of_f, of_x = direct.eights(op)
  return {
    f = { r[2], of_f * t[2], r[3] }, y = { r[4], t[3], r[5] }, x = { r[6], of_x * t[4], r[7] },
    tile_c = 1, window = c.window,
    stage_input = c.stage_input, stage_weights = c.stage_weights, pad = c.pad, vector = c.vector,
    order = c.order, unroll = c.unroll, explicit = c.explicit,
    walk = c.walk, depthwise = true, slide = c.slide,
  }
end

local plan = derived(function(c) return direct.plan(op, schedule(c)) end)

direct.constraints(op, plan)
constraint("what slides has several rows and the whole window", function(c)
  return c.slide == "none" or plan(c).y.steps > 1 and c.window == "whole"
end)
direct.kernels(op, plan)
direct_nest.declare(op, schedule, direct.windows(op))
