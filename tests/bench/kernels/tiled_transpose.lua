-- By hand: tiles of 32 x 32 through shared memory, a column of padding against bank conflicts. The tiles divide.
local op = operator.copy { rows = size("rows", 1024), columns = size("columns", 1024), transpose = "yes" }
param.unused = discrete { 1 }
kernel { template = "tiled_transpose.comp", groups = function() return { op.columns // 32, op.rows // 32 } end }
