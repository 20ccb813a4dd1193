-- One schedule of a depthwise convolution of 128 channels by conv_direct.comp, its choices given by --set: an invocation has
-- `rows` rows at once, in nchw of 4 columns of a channel, in nhwc of 4 channels of a column, and goes down `steps` times.
local conv2d, direct = include "conv2d.lua", include "direct.lua"

local extent = size("size", 2048) // 8 -- of the image
local slide, rows, steps = choice("slide", { "none", "rows" }), size("rows", 8), size("steps", 1)
local unroll, window = size("unroll", 0, 0), size("window", 3)
local op = conv2d.declare_depthwise { channels = 128, height = extent, width = extent, kernel = window, padding = window // 2 }
local planar = op.layout == "nchw"

param.only = discrete { 1 }
local plan = derived(function()
  return direct.plan(op, {
    f = { 1, planar and 1 or 16, 1 }, y = { steps, 4, rows }, x = { 1, planar and 32 or 4, planar and 4 or 1 },
    tile_c = 1, stage_input = "none", stage_weights = "none", vector = planar and 1 or 4, order = { "y", "x" },
    unroll = unroll, explicit = "copies", tile_y = window, tile_x = window, depthwise = true, slide = slide,
  })
end)
direct.kernels(op, plan)
