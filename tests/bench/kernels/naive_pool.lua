-- The yardstick of beginners: one output an invocation, neighbours of a row to a workgroup.
local mean = choice("kind", { "max_pool", "avg_pool" }) == "avg_pool"
local op = operator[mean and "avg_pool" or "max_pool"] {
  batch = size("batch", 1), channels = size("channels", 64), height = size("height", 28), width = size("width", 28),
  window = size("window", 3), stride = size("stride", 2), padding = size("padding", 0, 0),
}
param.unused = discrete { 1 }
kernel {
  template = "naive_pool.comp",
  values = function() return { mean = mean } end,
  groups = function() return { (op.out_width + 31) // 32, op.out_height, op.batch * op.channels } end,
}
