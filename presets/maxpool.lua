-- presets/maxpool.lua: the largest of each window of an image; what lies outside does not count
local pool = include "pool.lua"

pool(operator.max_pool {
  batch    = size("batch", device.is_cpu and 1 or 128),
  channels = size("channels", 64),
  height   = size("height", 55),
  width    = size("width", 55),
  window   = size("window", 3),
  stride   = size("stride", 2),
  padding  = size("padding", 0, 0),
  extra    = size("extra", 0, 0), -- more padding behind the image than before it
  layout   = choice("layout", { "nchw", "nhwc" }),
  type     = choice("type", { "f32", "f16" }),
})
