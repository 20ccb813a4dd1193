-- Sums along delays, as the dedispersion kernel of Kernel Tuner's examples.
local lists = include "lists.lua"
param.block_size_x = discrete(lists.join({ 1, 2, 4, 8 }, lists.upto(512, 16, 16)))
param.block_size_y = discrete(lists.join({ 1, 2 }, lists.upto(128, 4, 4)))
param.tile_size_x = discrete { 1, 2, 3, 4 }
param.tile_size_y = discrete { 1, 2, 3, 4, 5, 6, 7, 8 }
param.tile_stride_x = discrete { 0, 1 }
param.tile_stride_y = discrete { 0, 1 }
param.loop_unroll_factor_channel = discrete { 0, 1, 2, 3, 4, 6, 8, 12, 16 }
constraint("a warp at least", function(c) return c.block_size_x * c.block_size_y >= 32 end)
constraint("threads", function(c) return c.block_size_x * c.block_size_y <= 1024 end)
constraint("stride x", function(c) return c.tile_size_x > 1 or c.tile_stride_x == 0 end)
constraint("stride y", function(c) return c.tile_size_y > 1 or c.tile_stride_y == 0 end)
