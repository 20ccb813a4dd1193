-- presets/avgpool.lua: the mean of each window of an image
local pool = include "pool.lua"

pool(operator.avg_pool {
  batch    = size("batch", device.is_cpu and 1 or 128),
  channels = size("channels", 256),
  height   = size("height", 13),
  width    = size("width", 13),
  window   = size("window", 3),
  stride   = size("stride", 2),
  padding  = size("padding", 0, 0),
  extra    = size("extra", 0, 0), -- more padding behind the image than before it
  divisor  = choice("divisor", { "inside", "window" }), -- elements inside of the image, or all
  layout   = choice("layout", { "nchw", "nhwc" }),
  type     = choice("type", { "f32", "f16" }),
})
