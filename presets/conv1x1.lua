-- presets/conv1x1.lua: a convolution of single pixels: a plain product, if there is no stride
use("conv-implicit.lua", {
  in_channels = device.is_cpu and 128 or 256, out_channels = device.is_cpu and 128 or 64,
  kernel_h = 1, kernel_w = 1, padding = 0,
})
