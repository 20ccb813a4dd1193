for i = 1, 16 do size("unused" .. i, 1) end -- as many as a large operator has
local N, M, K = size("N", 40), size("M", 36), size("K", 48)
operator.matmul { N = N, M = M, K = K, type = "f32", layout = "nn" }
param.one = discrete { 1 }
kernel { template = "kernel.comp", groups = function(c) return { (M + 7) // 8, (N + 7) // 8 } end }
scratch(function(c) return 4 * N * M + 8 end)
