-- A batch of small products, one invocation an element: for tests of what devices bear.
local batch, N, M, K = size("batch", 4106), size("N", 64), size("M", 64), size("K", 64)
operator.batch_matmul { batch = batch, N = N, M = M, K = K }

param.groups = factors(batch, 2)
param.unroll = discrete { 1, 2, 4, 8 }

kernel { template = "batch.comp", groups = function() return { 1, N, batch } end }
