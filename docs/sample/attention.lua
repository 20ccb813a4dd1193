-- attention.lua: how much each query attends to each key, P = softmax(Q K^T / sqrt(D)), for all heads at once
local heads, N, M, D = size("heads", 8), size("N", 128), size("M", 128), size("D", 64)
local scale = 1 / math.sqrt(D)

local op = operator.define {
  name      = "attention_scores",
  flop      = heads * N * M * (2 * D + 4),
  inputs    = { { "Q", heads, N, D }, { "K", heads, M, D } },
  output    = { "P", heads, N, M },
  reference = {
    { "batch_matmul", "Q", "K", "S", batch = heads, N = N, M = M, K = D, layout = "nt", scale = scale },
    { "softmax", "S", "P", rows = heads * N, columns = M },
  },
  tolerance = { absolute = 1e-6, relative = 1e-4 },
}

param.rows   = discrete { 1, 2, 4, 8, 16 }        -- queries of a workgroup
param.lanes  = discrete { 4, 8, 16, 32, 64, 128 } -- invocations of a query
param.vector = discrete { 1, 2, 4 }
param.unroll = discrete { 1, 2, 4, 8 }            -- vectors of a product written out
param.keys   = categorical { "memory", "shared" } -- where from: read by each query, or once for all of the workgroup

constraint("vectors divide D", function(c) return D % (c.vector * c.unroll) == 0 end)
constraint("whole subgroups", function(c) return c.rows * c.lanes >= device.subgroup_size end)

local function plan(c)
  local p = { scale = scale, vectors = D // c.vector, blocks = (M + c.lanes - 1) // c.lanes }
  p.pitch = p.vectors + 1 -- of a key in shared memory: neighbours lie in different banks
  p.threads = c.rows * c.lanes
  return p
end

resources(function(c)
  local p = plan(c)
  local keys = c.keys == "shared" and c.lanes * p.pitch * c.vector or 0
  return {
    groups = { (N + c.rows - 1) // c.rows, heads },
    invocations = { c.lanes, c.rows },
    shared_bytes = 4 * (c.rows * (D + M + c.lanes) + keys),
    loop_trips = (p.blocks + 1) * (p.vectors // c.unroll + 4) + 2 * p.vectors,
  }
end)

kernel { template = "attention.comp", values = plan }
