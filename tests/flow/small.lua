-- A small space for tests: four kinds of parameters, rules that reject about a third of the points.
local N = size("N", 64)
operator.matmul { N = N, M = 64, K = 64, type = "f32" }

param.tile   = factors(N, 4)
param.unroll = discrete { 0, 16, 64, 256 }
param.order  = permutation { "n", "m", "k" }
param.stage  = categorical { "none", "shared", "double" }

constraint("double buffers are unrolled", function(c)
  return c.stage ~= "double" or c.unroll > 0
end)

constraint("few virtual threads", function(c)
  return c.tile[2] <= 4
end)

resources(function(c)
  return { invocations = { 64, c.tile[2] * c.tile[3] * c.tile[4] }, groups = { 1, c.tile[1] } }
end)

kernel { template = "small.comp", groups = function(c) return { 1, c.tile[1] } end }
