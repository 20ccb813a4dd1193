-- By hand: a workgroup a row, neighbours read neighbours, largest and sum through shared memory.
local op = operator.softmax { rows = size("rows", 1024), columns = size("columns", 1000) }
param.unused = discrete { 1 }
local lanes = device.is_cpu and 8 or 128
kernel {
  template = "shared_softmax.comp",
  values = function() return { lanes = lanes } end,
  groups = function() return { math.min(op.rows, 32768), (op.rows + 32767) // 32768 } end,
}
