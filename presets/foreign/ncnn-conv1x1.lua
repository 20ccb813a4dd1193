-- presets/foreign/ncnn-conv1x1.lua: ncnn's convolution with kernels of 1 x 1 (convolution_packed_1x1s1d1.comp of its Vulkan layers) as it is,
-- with the workgroups that it ships (lua/ncnn.lua), of images of S elements
local ncnn = include "ncnn.lua"
local C, O = size("in_channels", device.is_cpu and 64 or 256), size("out_channels", device.is_cpu and 64 or 1024)
local S = size("height", device.is_cpu and 28 or 14) * size("width", device.is_cpu and 28 or 14)
local pack = choice("pack", { "4", "1" })
folder("ncnn", { file = "convolution_packed_1x1s1d1.comp", below = { "src/layer/vulkan/shader" },
                 what = "a checkout of ncnn, or its src/layer/vulkan/shader" })
if C % 4 + O % 4 + S % 4 > 0 then error("channels, and height times width, are multiples of 4 here (ncnn would fill them up)") end

-- Workgroups with local memory read beyond the ends of image and weights, and use nothing of it: ncnn's memory goes on there, and so
-- does ours, by a channel (or four), and by seven filters.
local filters = O // 4 + 7
local step = pack == "4" and S or S // 4                                      -- from one channel, or four, to the next
ncnn.convolution {
  name = "ncnn_conv1x1", shader = "convolution_packed_1x1s1d1", bindings = { "X", "Y", "W", "W" },
  pack = pack, in_channels = C, out_channels = O, elements = S, outputs = S, taps = 1, behind = { 1, 7 },
  steps = {
    { "strided", "W", "FILTERS", count = 4 * filters * C, n1 = O // 4, n2 = 4, n3 = C // 4, n4 = 4, s1 = 4 * C, s2 = 4, s3 = 16 },
    { "matmul", "FILTERS", "IMAGE", "SUMS", N = O, M = S, K = C },
  },
  constants = { { 0, "bias_term", 0 }, { 1, "activation_type", 0 } },
  first = 6,
  sizes = { { "c", C // 4 }, { "cstep", step }, { "outc", O // 4 }, { "outcstep", S }, { "outcstep_native", S // 4 }, { "size", S // 4 },
            { "num_output", O }, { "num_input", C } },
  about = ("%d to %d channels of %d"):format(C, O, S),
}

constraint("local memory is of 8 x 8", function(c)
  return c.memory == "global" or c.x >= 4 and c.x <= 8 and c.y >= 4 and c.y <= 8
end)
