-- One transform of a convolution of 64 channels by Winograd's rule; its products are gemm's.
local conv2d, transforms = include "conv2d.lua", include "winograd_kernels.lua"
local winograd = include "winograd_plan.lua"

local extent = size("size", 2048) // 8 -- of the image
local transform, m = choice("transform", { "input", "output", "weights" }), size("tile", 2)
local op = conv2d.declare {
  in_channels = 64, out_channels = 64, height = extent, width = extent, kernel = 3, padding = 1, types = { "f32", "f16" },
  accumulate = { "f32" }, algorithm = function() return "winograd" end,
}
param.tile = discrete { m }
param.transform = discrete { 64 }
resources(function() return { invocations = { 64 } } end)
transforms.transform(op, transform)
scratch(function(c) return 4 * winograd.sizes(op, c.tile).elements end)
