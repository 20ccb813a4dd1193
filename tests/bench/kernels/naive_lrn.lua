-- The yardstick of beginners: one output an invocation, neighbours of a row to a workgroup.
local op = operator.lrn {
  batch = size("batch", 1), channels = size("channels", 64), height = size("height", 55), width = size("width", 55),
}
param.unused = discrete { 1 }
kernel {
  template = "naive_lrn.comp",
  groups = function() return { (op.width + 31) // 32, op.height, op.batch * op.channels } end,
}
