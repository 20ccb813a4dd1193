-- By hand: 4 rows of registers an invocation, each row of the image read once, neighbours of a row to a workgroup.
local op = include("image.lua")()
param.unused = discrete { 1 }
local lanes = device.is_cpu and 8 or 32
kernel {
  template = "register_depthwise.comp",
  values = function() return { lanes = lanes } end,
  groups = function() return { (op.out_width + lanes - 1) // lanes, (op.out_height + 3) // 4, op.batch * op.groups } end,
}
