-- Advection of a weather model by blocks and tiles in three directions, as MicroHH's kernels.
param.block_size_x = discrete { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024 }
param.block_size_y = discrete { 1, 2, 4, 8, 16, 32 }
param.block_size_z = discrete { 1, 2, 4 }
param.tile_x = discrete { 1, 2, 4, 8 }
param.tile_y = discrete { 1, 2, 4 }
param.tile_z = discrete { 1, 2, 4 }
param.unroll_x = discrete { 0, 1, 2, 4, 8 }
param.unroll_y = discrete { 0, 1, 2, 4 }
param.unroll_z = discrete { 0, 1, 2, 4 }
param.strides = discrete { 0, 1 }
param.blocks_per_sm = discrete { 0, 1, 2, 3, 4 }
constraint("a warp at least", function(c) return c.block_size_x * c.block_size_y * c.block_size_z >= 32 end)
constraint("threads", function(c) return c.block_size_x * c.block_size_y * c.block_size_z <= 1024 end)
constraint("registers", function(c)
  return c.blocks_per_sm == 0 or c.block_size_x * c.block_size_y * c.block_size_z * c.blocks_per_sm <= 2048
end)
constraint("unroll x", function(c) return c.unroll_x == 0 or c.tile_x % c.unroll_x == 0 end)
constraint("unroll y", function(c) return c.unroll_y == 0 or c.tile_y % c.unroll_y == 0 end)
constraint("unroll z", function(c) return c.unroll_z == 0 or c.tile_z % c.unroll_z == 0 end)
