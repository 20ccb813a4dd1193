-- presets/foreign/ncnn-conv-gemm.lua: ncnn's convolution as a product of matrices (convolution_packed_gemm.comp of its Vulkan layers) as it
-- is, with the workgroups that it ships (lua/ncnn.lua); no padding.
local ncnn = include "ncnn.lua"

local cpu = device.is_cpu
local C, O = size("in_channels", cpu and 16 or 256), size("out_channels", cpu and 32 or 256)
local H, W = size("height", cpu and 18 or 34), size("width", cpu and 18 or 34)
local kernel_size, stride, dilation = size("kernel", 3), size("stride", 1), size("dilation", 1)
local pack = choice("pack", { "4", "1" })
folder("ncnn", { file = "convolution_packed_gemm.comp", below = { "src/layer/vulkan/shader" },
                 what = "a checkout of ncnn, or its src/layer/vulkan/shader" })
local function out(size) return (size - dilation * (kernel_size - 1) - 1) // stride + 1 end
local OH, OW = out(H), out(W)
if OH < 1 or OW < 1 then error("the kernel is larger than the image") end
local S, Q, taps = H * W, OH * OW, kernel_size * kernel_size
if C % 4 + O % 4 + Q % 4 > 0 then error("channels, and the output's height times width, are multiples of 4 here") end

ncnn.convolution {
  name = "ncnn_conv_gemm", shader = "convolution_packed_gemm", bindings = { "X", "Y", "X", "Y", "W", "W" },
  pack = pack, in_channels = C, out_channels = O, elements = S, outputs = Q, taps = taps, behind = { 0, 0 },
  steps = {
    { "strided", "W", "OF_OUTPUTS", count = O * C * taps, n1 = O // 4, n2 = 4, n3 = C // 4 * taps, n4 = 4, s1 = 4 * C * taps, s2 = 4, s3 = 16 },
    { "strided", "OF_OUTPUTS", "FILTERS", count = O * C * taps, n1 = O, n2 = C // 4, n3 = 4, n4 = taps, s1 = C * taps, s2 = 4 * taps, s3 = 1, s4 = 4 },
    { "conv2d", "IMAGE", "FILTERS", "SUMS", batch = 1, in_channels = C, height = H, width = W, out_channels = O,
      kernel_h = kernel_size, kernel_w = kernel_size, stride = stride, dilation = dilation },
  },
  constants = { { 0, "kernel_w", kernel_size }, { 1, "kernel_h", kernel_size }, { 2, "dilation_w", dilation }, { 3, "dilation_h", dilation },
                { 4, "stride_w", stride }, { 5, "stride_h", stride }, { 6, "bias_term", 0 }, { 7, "activation_type", 0 } },
  first = 12,
  sizes = { { "w", W }, { "h", H }, { "c", C // 4 }, { "cstep", S }, { "outw", OW }, { "outh", OH }, { "outc", O // 4 }, { "outcstep", Q },
            { "num_output", O }, { "num_input", C } },
  about = ("%d to %d channels of %d x %d, kernels of %d, stride %d"):format(C, O, H, W, kernel_size, stride),
}

constraint("local memory is of 8 x 8", function(c) return c.memory == "global" or c.x == 8 and c.y == 8 end)
constraint("what local memory takes is whole", function(c) return c.memory == "global" or Q % 32 == 0 and O % 32 == 0 end)
