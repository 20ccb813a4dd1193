local rows, columns = size("rows", 45), size("columns", 52)
operator.copy { rows = rows, columns = columns, transpose = "yes", type = "f32" }
param.one = discrete { 1 }
kernel { template = "kernel.comp", groups = function(c) return { (columns + 15) // 16, (rows + 15) // 16 } end }
