-- presets/c2.lua: C2 of the OpEvo paper, the second convolution of AlexNet
use("conv.lua", {
  batch = 512, in_channels = 64, height = 27, width = 27, out_channels = 192, kernel_h = 5, kernel_w = 5,
  stride = 1, padding = 2,
})
