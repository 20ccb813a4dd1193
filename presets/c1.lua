-- presets/c1.lua: C1 of the OpEvo paper, the first convolution of AlexNet
use("conv.lua", {
  batch = 512, in_channels = 3, height = 227, width = 227, out_channels = 64, kernel_h = 11, kernel_w = 11,
  stride = 4, padding = 0,
})
