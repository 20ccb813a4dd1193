-- presets/foreign/ncnn-conv1x1.lua: ncnn's convolution with kernels of 1 x 1 (convolution_packed_1x1s1d1.comp of its Vulkan layers) as it is,
-- with the workgroups that it ships. An image of S elements has its channels in fours (pack=4) or one by one, weights lie in 4 x 4.
local foreign = include "foreign.lua"
local C, O = size("in_channels", device.is_cpu and 64 or 256), size("out_channels", device.is_cpu and 64 or 1024)
local S = size("height", device.is_cpu and 28 or 14) * size("width", device.is_cpu and 28 or 14)
local pack = choice("pack", { "4", "1" })
folder("ncnn", { file = "convolution_packed_1x1s1d1.comp", below = { "src/layer/vulkan/shader" },
                 what = "a checkout of ncnn, or its src/layer/vulkan/shader" })
if C % 4 + O % 4 + S % 4 > 0 then error("channels, and height times width, are multiples of 4 here (ncnn would fill them up)") end

-- Workgroups with local memory read beyond the ends of image and weights, and use nothing of it: ncnn's memory goes on there, and so
-- does ours, by a channel (or four), and by seven filters.
local whole, fours = { -4, 4, whole = true }, pack == "4"
local image, filters = fours and { "X", C // 4 + 1, S, 4, fill = whole } or { "X", C + 1, S, fill = whole }, O // 4 + 7
local steps = {
  { "strided", "W", "FILTERS", count = 4 * filters * C, n1 = O // 4, n2 = 4, n3 = C // 4, n4 = 4, s1 = 4 * C, s2 = 4, s3 = 16 },
  fours and { "strided", "X", "IMAGE", count = (C + 4) * S, n2 = C // 4, n3 = 4, n4 = S, s2 = 4 * S, s3 = 1, s4 = 4 }
         or { "strided", "X", "IMAGE", count = (C + 1) * S, n4 = C * S },
  { "matmul", "FILTERS", "IMAGE", fours and "PRODUCT" or "Y", N = O, M = S, K = C },
  fours and { "strided", "PRODUCT", "Y", count = O * S, n2 = O // 4, n3 = S, n4 = 4, s2 = 4 * S, s3 = 1, s4 = S } or nil,
}

operator.define {
  name      = "ncnn_conv1x1",
  flop      = 2 * O * C * S,
  inputs    = { image, { "W", filters, C // 4, 4, 4, fill = whole } },
  output    = fours and { "Y", O // 4, S, 4 } or { "Y", O, S },
  reference = steps,
  tolerance = { nmse = 5e-4, exact = true },
}

-- An invocation computes four elements of four channels.
param.x      = discrete { 1, 2, 4, 8, 16, 32, 64, 128 }
param.y      = discrete { 1, 2, 4, 8, 16, 32, 64, 128 }
param.memory = categorical { "global", "local" }
param.sizes  = categorical { "pushed", "constant" }

constraint("local memory is of 8 x 8", function(c)
  return c.memory == "global" or c.x >= 4 and c.x <= 8 and c.y >= 4 and c.y <= 8
end)

resources(function(c) return {
  invocations  = { c.x, c.y },
  shared_bytes = c.memory == "local" and 2 * 8 * 8 * 4 * 16 or 0,
  groups       = { (S // 4 + c.x - 1) // c.x, (O // 4 + c.y - 1) // c.y },
} end)

local step = fours and S or S // 4                                            -- from one channel, or four, to the next
local sizes = { C // 4, step, O // 4, S, S // 4, S // 4, O, C }
local names = { "c", "cstep", "outc", "outcstep", "outcstep_native", "size", "num_output", "num_input" }
local function constants(c)
  local all = { { 0, "bias_term", 0 }, { 1, "activation_type", 0 }, { 4, "elempack", fours and 4 or 1 }, { 5, "out_elempack", fours and 4 or 1 },
    { 233, "local_size_x", c.x }, { 234, "local_size_y", c.y }, { 235, "local_size_z", 1 } }
  for i, v in ipairs(sizes) do table.insert(all, { 5 + i, names[i], c.sizes == "constant" and v or 0 }) end
  return all
end

kernel {
  shader   = "ncnn/convolution_packed_1x1s1d1.comp", include = { "ncnn" },
  preamble = foreign.ncnn_local_size,
  bindings = { "X", "Y", "W", "W" },                                          -- the last: biases, none here
  define   = function(c) return foreign.ncnn(c.memory == "local") end,
  spec     = function(c) return foreign.spec(constants(c)) end,
  push     = function(c) return sizes end,
}

baseline {
  ["local"]  = { x = 8, y = 8, memory = "local", sizes = "pushed" },
  ["global"] = { x = 8, y = O >= 32 and 8 or O >= 16 and 4 or O >= 8 and 2 or 1, memory = "global", sizes = "pushed" },
}

export("constants", function(c)
  return foreign.header("convolution_packed_1x1s1d1", ("%d to %d channels of %d, pack %s, local memory: %s"):format(C, O, S, pack,
    c.memory == "local" and "yes" or "no"), constants(c))
end)
