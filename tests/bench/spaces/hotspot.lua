-- A stencil with temporal tiling, as the hotspot kernel of Kernel Tuner's examples.
local lists = include "lists.lua"
param.block_size_x = discrete(lists.join({ 1, 2, 4, 8, 16 }, lists.upto(1024, 32, 32)))
param.block_size_y = discrete { 1, 2, 4, 8, 16, 32 }
param.tile_size_x = discrete(lists.upto(10))
param.tile_size_y = discrete(lists.upto(10))
param.temporal_tiling_factor = discrete(lists.upto(10))
param.loop_unroll_factor_t = discrete(lists.upto(10))
param.sh_power = discrete { 0, 1 }
param.blocks_per_sm = discrete { 0, 1, 2, 3, 4 }
constraint("a warp at least", function(c) return c.block_size_x * c.block_size_y >= 32 end)
constraint("threads", function(c) return c.block_size_x * c.block_size_y <= 1024 end)
constraint("unrolling", function(c) return c.temporal_tiling_factor % c.loop_unroll_factor_t == 0 end)
constraint("shared memory", function(c)
  return (c.block_size_x * c.tile_size_x + c.temporal_tiling_factor * 2) * (c.block_size_y * c.tile_size_y + c.temporal_tiling_factor * 2)
    * (2 + c.sh_power) * 4 <= 49152
end)
