-- presets/foreign/ncnn-conv-gemm.lua: ncnn's convolution as a product of matrices (convolution_packed_gemm.comp of its Vulkan layers) as it
-- is, with the workgroups that it ships. Images have their channels in fours (pack=4) or one by one, weights lie in 4 x 4; no padding.
local foreign = include "foreign.lua"

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

local whole, fours = { -4, 4, whole = true }, pack == "4"
local steps = {
  { "strided", "W", "OF_OUTPUTS", count = O * C * taps, n1 = O // 4, n2 = 4, n3 = C // 4 * taps, n4 = 4, s1 = 4 * C * taps, s2 = 4, s3 = 16 },
  { "strided", "OF_OUTPUTS", "FILTERS", count = O * C * taps, n1 = O, n2 = C // 4, n3 = 4, n4 = taps, s1 = C * taps, s2 = 4 * taps, s3 = 1, s4 = 4 },
  { "conv2d", fours and "IMAGE" or "X", "FILTERS", fours and "SUMS" or "Y", batch = 1, in_channels = C, height = H, width = W, out_channels = O,
    kernel_h = kernel_size, kernel_w = kernel_size, stride = stride, dilation = dilation },
}
if fours then
  table.insert(steps, 1, { "strided", "X", "IMAGE", count = C * S, n2 = C // 4, n3 = 4, n4 = S, s2 = 4 * S, s3 = 1, s4 = 4 })
  table.insert(steps, { "strided", "SUMS", "Y", count = O * Q, n2 = O // 4, n3 = Q, n4 = 4, s2 = 4 * Q, s3 = 1, s4 = Q })
end
operator.define {
  name      = "ncnn_conv_gemm",
  flop      = 2 * O * C * taps * Q,
  inputs    = { fours and { "X", C // 4, S, 4, fill = whole } or { "X", C, S, fill = whole }, { "W", O // 4, C // 4 * taps, 4, 4, fill = whole } },
  output    = fours and { "Y", O // 4, Q, 4 } or { "Y", O, Q },
  reference = steps,
  tolerance = { nmse = 5e-4, exact = true },
}

-- An invocation computes four elements of four channels.
param.x      = discrete { 1, 2, 4, 8, 16, 32, 64, 128 }
param.y      = discrete { 1, 2, 4, 8, 16, 32, 64, 128 }
param.memory = categorical { "global", "local" }
param.sizes  = categorical { "pushed", "constant" }

constraint("local memory is of 8 x 8", function(c) return c.memory == "global" or c.x == 8 and c.y == 8 end)
constraint("what local memory takes is whole", function(c) return c.memory == "global" or Q % 32 == 0 and O % 32 == 0 end)

resources(function(c) return {
  invocations  = { c.x, c.y },
  shared_bytes = c.memory == "local" and 2 * 8 * 8 * 4 * 16 or 0,
  groups       = { (Q // 4 + c.x - 1) // c.x, (O // 4 + c.y - 1) // c.y },
} end)

local sizes = { W, H, C // 4, S, OW, OH, O // 4, Q, O, C }
local names = { "w", "h", "c", "cstep", "outw", "outh", "outc", "outcstep", "num_output", "num_input" }
local function constants(c)
  local all = { { 0, "kernel_w", kernel_size }, { 1, "kernel_h", kernel_size }, { 2, "dilation_w", dilation }, { 3, "dilation_h", dilation },
    { 4, "stride_w", stride }, { 5, "stride_h", stride }, { 6, "bias_term", 0 }, { 7, "activation_type", 0 }, { 10, "elempack", fours and 4 or 1 },
    { 11, "out_elempack", fours and 4 or 1 }, { 233, "local_size_x", c.x }, { 234, "local_size_y", c.y }, { 235, "local_size_z", 1 } }
  for i, v in ipairs(sizes) do table.insert(all, { 11 + i, names[i], c.sizes == "constant" and v or 0 }) end
  return all
end

kernel {
  shader   = "ncnn/convolution_packed_gemm.comp", include = { "ncnn" }, preamble = foreign.ncnn_local_size,
  bindings = { "X", "Y", "X", "Y", "W", "W" },                                -- the last: biases, none here
  define   = function(c) return foreign.ncnn(c.memory == "local") end,
  spec     = function(c) return foreign.spec(constants(c)) end,
  push     = function() return sizes end,
}

baseline {
  ["local"]  = { x = 8, y = 8, memory = "local", sizes = "pushed" },
  ["global"] = { x = 8, y = O >= 32 and 8 or O >= 16 and 4 or O >= 8 and 2 or 1, memory = "global", sizes = "pushed" },
}

export("constants", function(c)
  return foreign.header("convolution_packed_gemm", ("%d to %d channels of %d x %d, kernels of %d, stride %d, pack %s, local memory: %s"):format(
    C, O, H, W, kernel_size, stride, pack, c.memory == "local" and "yes" or "no"), constants(c))
end)
