-- One schedule of skinny.comp, its choices given by --set: 4 lines an invocation, 4 vectors of each along K before its loop
-- turns, 32 invocations along K.
local skinny, matmul, subgroups = include "skinny.lua", include "matmul.lua", include "subgroups.lua"
local arithmetic = include "arithmetic.lua"

local length = size("size", 2048)
local product = matmul.declare({ N = length, M = 1, K = length }, { "f32", "f16", "i8" })
local reduce, vector = choice("reduce", { "shared", "subgroup" }), size("vector", 4)

param.only = discrete { 1 }
local plan = derived(function()
  return skinny.plan(product, {
    group = { 32, 4 }, lines = 4, vector = math.min(vector, arithmetic.widest(length)), unroll = 4, split_k = 1,
    reduce = reduce, subgroup = subgroups.least,
  })
end)
skinny.kernels(plan)
