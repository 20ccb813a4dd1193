-- The yardstick of beginners: one element an invocation, read along the rows.
local op = operator.copy { rows = size("rows", 1024), columns = size("columns", 1024), transpose = "yes" }
param.unused = discrete { 1 }
kernel { template = "naive_transpose.comp", groups = function() return { (op.columns + 31) // 32, op.rows } end }
