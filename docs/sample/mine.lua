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

nest(function(c, d)
  local rows, columns, unroll = c.rows, c.columns, c.unroll
  local block_y = d.loop { "block_y", kind = "block_y", length = rows[1] }
  local block_x = d.loop { "block_x", kind = "block_x", length = columns[1] }
  local thread_y = d.loop { "thread_y", kind = "thread_y", length = rows[2] }
  local thread_x = d.loop { "thread_x", kind = "thread_x", length = columns[2] }
  local k = d.loop { "k", length = K // unroll }
  local u = d.loop { "u", kind = "unrolled", length = unroll }
  local i = d.loop { "i", kind = "unrolled", length = rows[3] }
  local j = d.loop { "j", kind = "unrolled", length = columns[3] }

  local a, b, out = d.buffer { "a", N, K }, d.buffer { "b", K, M }, d.buffer { "c", N, M }
  local sum = d.buffer { "sum", rows[3], columns[3], memory = "registers" }

  local row, column = (block_y * rows[2] + thread_y) * rows[3] + i, (block_x * columns[2] + thread_x) * columns[3] + j
  local element = k * unroll + u
  d.statement {
    "products", loops = { block_y, block_x, thread_y, thread_x, k, u, i, j }, multiply = 1, add = 1,
    updates = sum { i, j }, reads = { a { row, element }, b { element, column } },
  }
  d.statement {
    "store", loops = { block_y, block_x, thread_y, thread_x, i, j },
    stores = out { row, column }, reads = { sum { i, j } },
  }
end)
