-- mine.lua: C[N,M] = A[N,K] * B[K,M], one invocation per block of C
local N, M, K = size("N", 512), size("M", 512), size("K", 512) -- tilewalk tune mine.lua --set N=4096

operator.matmul { N = N, M = M, K = K, type = "f32", layout = "nn" }

param.rows    = factors(N, 3)            -- workgroups, invocations, registers
param.columns = factors(M, 3)
param.unroll  = discrete { 1, 2, 4, 8 }

constraint("unrolling divides K", function(c) return K % c.unroll == 0 end)

resources(function(c) return {
  groups       = { c.columns[1], c.rows[1] },
  invocations  = { c.columns[2], c.rows[2] },
  accumulators = c.rows[3] * c.columns[3],
  statements   = c.rows[3] * c.columns[3] * c.unroll,
  loop_trips   = K // c.unroll + 1,
} end)

kernel { template = "mine.comp" }
