-- A convolution of images that lie channel by channel, its sizes to be set.
return function()
  return operator.conv2d {
    batch = size("batch", 1), in_channels = size("in_channels", 64), out_channels = size("out_channels", 64),
    height = size("height", 28), width = size("width", 28), kernel_h = size("kernel_h", 3), kernel_w = size("kernel_w", 3),
    stride = size("stride", 1), padding = size("padding", 0, 0), groups = size("groups", 1),
  }
end
