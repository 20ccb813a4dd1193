-- presets/conv-implicit.lua: a convolution as a product of matrices, one of which is gathered from the image while it
-- is loaded. Rows are output channels and columns pixels (nchw), or the other way round (nhwc).
local gemm, rules = include "gemm_plan.lua", include "gemm_rules.lua"
local conv2d, implicit_gemm, units = include "conv2d.lua", include "implicit_gemm.lua", include "units.lua"

local channels, extent = device.is_cpu and 32 or 64, device.is_cpu and 28 or 56
local product = implicit_gemm.product(conv2d.declare {
  batch = device.is_cpu and 1 or 16, in_channels = channels, out_channels = channels,
  height = extent, width = extent, kernel = 3, padding = 1, accumulate = gemm.accumulate,
})

local api = units.choose(product)
if api then return units.declare(product, api) end

-- Budgets, not sizes: the first part is what is left out, so that any size can be tiled and few points ask too much.
param.threads   = factors(device.is_cpu and 8 or 32, 3)   -- unused, rows, columns in eights
param.registers = factors(128, 5)                         -- unused, virtual and neighbouring rows, the same for columns
param.tile_k    = factors(device.is_cpu and 16 or 32, 3)  -- unused, steps through shared memory, elements a step

param.stage_a = categorical(gemm.stages)
param.stage_b = categorical(gemm.stages)
param.pad     = discrete { 0, 1, 2, 4 }                   -- after each line of a shared tile, if any, in vectors

param.vector_a = discrete(gemm.widths(product.a))
param.vector_b = discrete(gemm.widths(product.b))

param.order    = permutation { "n", "m", "k" }            -- inner loops, outermost first
param.unroll   = discrete { 0, 128, 512, 2048 }           -- products written out at most
param.explicit = categorical { "hint", "copies" }
param.split_k  = discrete { 1, 2, 4, 8 }
param.walk     = custom(gemm.walks)
if product.matrices > 1 then
  param.together = discrete { 1, 2 }                      -- matrices of a workgroup
end
if rules.gathers(product) then
  param.index = categorical { "hoist", "recompute" }      -- where a pixel lies: found before the loop, or each time
end

rules.offer(product)
rules.declare(product)
