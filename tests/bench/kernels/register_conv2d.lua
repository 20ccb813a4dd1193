-- By hand: 8 filters by 4 rows of registers an invocation, neighbours of a row to a workgroup, so that neighbours read
-- neighbours of the image and all read the same weight. Filters divide.
local op = include("image.lua")()
param.unused = discrete { 1 }
local lanes = device.is_cpu and 8 or 32
kernel {
  template = "register_conv2d.comp",
  values = function() return { lanes = lanes } end,
  groups = function()
    return { (op.out_width + lanes - 1) // lanes, (op.out_height + 3) // 4, op.batch * op.out_channels // 8 }
  end,
}
