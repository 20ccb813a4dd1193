local rows, columns = size("rows", 21), size("columns", 100)
operator.softmax { rows = rows, columns = columns, type = "f32" }
param.one = discrete { 1 }
kernel { template = "kernel.comp", groups = function(c) return { rows } end }
