-- presets/conv-winograd.lua: a convolution of 3x3 by Winograd's minimal filtering: transforms of weights and input, a
-- batch of products between them (what presets/gemm.lua chooses from, or on matrix units), the transform back
local conv2d, winograd, transforms = include "conv2d.lua", include "winograd_plan.lua", include "winograd_kernels.lua"
local gemm, rules, units = include "gemm_plan.lua", include "gemm_rules.lua", include "units.lua"

local channels, extent = device.is_cpu and 32 or 64, device.is_cpu and 28 or 56
local api
local op = conv2d.declare {
  batch = device.is_cpu and 1 or 16, in_channels = channels, out_channels = channels,
  height = extent, width = extent, kernel = 3, padding = 1, types = { "f32", "f16" }, accumulate = { "f32" },
  algorithm = function(type) -- matrix units multiply what is f16
    api = units.choose { op = { type = type }, sums = "f32" }
    return api and type == "f16" and "winograd_f16" or "winograd"
  end,
}
if op.kernel_h ~= 3 or op.kernel_w ~= 3 or op.stride ~= 1 or op.dilation ~= 1 then
  error("conv-winograd takes windows of 3x3 without stride and dilation (conv-direct and conv-implicit take any)")
end

param.tile = discrete { 2, 4 }                                         -- outputs of a tile are so many squared
param.transform = discrete(device.is_cpu and { 8, 16, 32, 64 } or { 32, 64, 128, 256 }) -- invocations of a workgroup
local product = { [2] = winograd.product(op, 2), [4] = winograd.product(op, 4) }
local function of_tile(c) return product[c.tile] end

if api then return transforms.declare(op, units.space(product[2], api, of_tile, { tile = 2, transform = 128 })) end

-- Budgets, not sizes: the first part is what is left out, so that any size can be tiled and few points ask too much.
param.threads   = factors(device.is_cpu and 8 or 32, 3)   -- unused, rows, columns in eights
param.registers = factors(128, 5)                         -- unused, virtual and neighbouring rows, the same for columns
param.tile_k    = factors(device.is_cpu and 16 or 32, 3)  -- unused, steps through shared memory, elements a step

param.stage_a = categorical(gemm.stages)
param.stage_b = categorical(gemm.stages)
param.pad     = discrete { 0, 1, 2, 4 }                   -- after each line of a shared tile, if any, in vectors

param.vector_a = discrete(gemm.widths(product[2].a))
param.vector_b = discrete(gemm.widths(product[2].b))

param.order    = permutation { "n", "m", "k" }            -- inner loops, outermost first
param.unroll   = discrete { 0, 128, 512, 2048 }           -- products written out at most
param.explicit = categorical { "hint", "copies" }
param.split_k  = discrete { 1, 2, 4, 8 }
param.walk     = custom(gemm.walks)
param.together = discrete { 1, 2 }                        -- matrices of a workgroup

rules.offer(product[2])
transforms.declare(op, rules.plan(product[2], of_tile))
