-- presets/matmul-quantised.lua: C = A B with A in the blocks of a quantised model and at most 16 columns of B, as tokens are
-- generated; gemm with the same `blocks` is for many columns
use("skinny.lua", { N = device.is_cpu and 1024 or 4096, K = device.is_cpu and 1024 or 4096, blocks = "q4_0" })
