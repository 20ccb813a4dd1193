-- The yardstick of beginners: one output an invocation, neighbours of a row to a workgroup.
local op = include("image.lua")()
param.unused = discrete { 1 }
kernel {
  template = "naive_conv2d.comp",
  groups = function() return { (op.out_width + 31) // 32, op.out_height, op.batch * op.out_channels } end,
}
