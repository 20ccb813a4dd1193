-- Y[N] = A[N,K] X[K], the weights A in blocks of 256 (q4_K): what making a token is made of.
local N, K = size("N", 256), size("K", 1024)
local blocks = K // 256 -- of a row

operator.define {
  name      = "q4_vector",
  flop      = 2 * N * K,
  bytes     = N * blocks * 144 + 4 * (N + K),
  inputs    = { { "A", N, K, blocks = "q4_K" }, { "X", K, fill = { -4, 4, whole = true } } },
  output    = { "Y", N },
  reference = {
    { "dequantize", "A", "W" },
    { "matmul", "W", "X", "Y", N = N, M = 1, K = K },
  },
  tolerance = { nmse = 5e-4, exact = true },
}

param.rows = discrete { 1, 2, 4, 8, 16, 32, 64 } -- of a workgroup, an invocation each
param.unroll = discrete { 1, 2, 4, 8 }           -- words of eight weights

baseline { plain = { rows = 64, unroll = 1 } }

resources(function(c) return {
  invocations = { c.rows },
  groups = { (N + c.rows - 1) // c.rows },
  loop_trips = blocks * (8 + 64 // c.unroll),
} end)

kernel { template = "vector.comp" }
