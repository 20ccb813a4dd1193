-- The yardstick of beginners: one element an invocation.
local op = operator.elementwise { count = size("count", 1 << 20), apply = "relu" }
param.unused = discrete { 1 }
kernel {
  template = "naive_relu.comp",
  groups = function() return { math.min(op.count // 64 + 1, 32768), op.count // 64 // 32768 + 1 } end,
}
