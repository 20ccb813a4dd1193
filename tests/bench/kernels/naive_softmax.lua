-- The yardstick of beginners: one row an invocation.
local op = operator.softmax { rows = size("rows", 1024), columns = size("columns", 1000) }
param.unused = discrete { 1 }
kernel { template = "naive_softmax.comp", groups = function() return { (op.rows + 31) // 32 } end }
