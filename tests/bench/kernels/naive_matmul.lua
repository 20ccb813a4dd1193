-- The yardstick of beginners: one element of C an invocation, 64 neighbours of a row to a workgroup.
local batch, N, M, K = size("batch", 1), size("N", 256), size("M", 256), size("K", 256)
operator.batch_matmul { batch = batch, N = N, M = M, K = K, layout = choice("layout", { "nn", "nt", "tn", "tt" }) }
param.unused = discrete { 1 }
kernel { template = "naive_matmul.comp", groups = function() return { (M + 63) // 64, N, batch } end }
