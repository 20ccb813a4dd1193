-- presets/foreign/ncnn-gemm.lua: ncnn's matrix product (gemm.comp of its Vulkan layers) as it is, with the workgroups that it ships:
-- C = A B, A of M rows of K, B of K rows of N; with pack=4 rows of A and C, and of B, lie in fours
local foreign = include "foreign.lua"

local cpu = device.is_cpu
local M, N, K = size("M", cpu and 64 or 1024), size("N", cpu and 64 or 1024), size("K", cpu and 64 or 1024)
local pack = choice("pack", { "4", "1" })
folder("ncnn", { file = "gemm.comp", below = { "src/layer/vulkan/shader" }, what = "a checkout of ncnn, or its src/layer/vulkan/shader" })
if M % 4 + N % 4 + K % 4 > 0 then error("M, N and K are multiples of 4 here (an invocation computes 4 x 4, and reads as much)") end

local whole, fours = { -4, 4, whole = true }, pack == "4"
local steps = { { "matmul", "A", "B", "C", N = M, M = N, K = K } }
if fours then
  steps = {
    { "strided", "A", "ROWS", count = M * K, n2 = M // 4, n3 = 4, n4 = K, s2 = 4 * K, s3 = 1, s4 = 4 },
    { "strided", "B", "COLUMNS", count = K * N, n2 = K // 4, n3 = 4, n4 = N, s2 = 4 * N, s3 = 1, s4 = 4 },
    { "matmul", "ROWS", "COLUMNS", "PRODUCT", N = M, M = N, K = K },
    { "strided", "PRODUCT", "C", count = M * N, n2 = M // 4, n3 = N, n4 = 4, s2 = 4 * N, s3 = 1, s4 = N },
  }
end
local function matrix(name, rows, columns) return fours and { name, rows // 4, columns, 4, fill = whole } or { name, rows, columns, fill = whole } end
operator.define {
  name      = "ncnn_gemm",
  flop      = 2 * M * N * K,
  inputs    = { matrix("A", M, K), matrix("B", K, N) },
  output    = fours and { "C", M // 4, N, 4 } or { "C", M, N },
  reference = steps,
  tolerance = { nmse = 5e-4, exact = true },
}

param.x      = discrete { 1, 2, 4, 8, 16, 32, 64 }
param.y      = discrete { 1, 2, 4, 8, 16, 32, 64 }
param.z      = discrete { 1, 4 }                                              -- above 1 idle
param.memory = categorical { "global", "local" }
param.sizes  = categorical { "pushed", "constant" }

constraint("local memory is of 8 x 8", function(c) return c.memory == "global" or c.x == 8 and c.y == 8 and c.z == 1 end)
constraint("what local memory takes is whole", function(c) return c.memory == "global" or M % 32 == 0 and N % 32 == 0 end)

resources(function(c) return {
  invocations  = { c.x, c.y, c.z },
  shared_bytes = c.memory == "local" and 2 * 8 * 9 * 16 or 0,
  groups       = { (N // 4 + c.x - 1) // c.x, (M // 4 + c.y - 1) // c.y },
} end)

local function constants(c)
  local is_constant = c.sizes == "constant"
  return { { 6, "constantC", 1 }, { 7, "M", is_constant and M or 0 }, { 8, "N", is_constant and N or 0 }, { 9, "K", is_constant and K or 0 },
    { 10, "constant_broadcast_type_C", -1 }, { 233, "local_size_x", c.x }, { 234, "local_size_y", c.y }, { 235, "local_size_z", c.z } }
end

kernel {
  shader   = "ncnn/gemm.comp", include = { "ncnn" }, preamble = foreign.ncnn_local_size,
  bindings = { "C", "A", "B", "A", "C" },                                     -- the fourth: what is added, nothing here
  define   = function(c) return foreign.ncnn(c.memory == "local") end,
  spec     = function(c) return foreign.spec(constants(c)) end,
  push     = function(c) return { M, N, K, -1, 2, K, 2, N, 2, N, fours and 4 or 1, fours and 4 or 1, fours and 4 or 1 } end,
}

baseline {
  ["local"]  = { x = 8, y = 8, z = 1, memory = "local", sizes = "pushed" },
  ["global"] = { x = 4, y = 4, z = 4, memory = "global", sizes = "pushed" },
}

export("constants", function(c)
  return foreign.header("gemm", ("M=%d N=%d K=%d, pack %s, local memory: %s"):format(M, N, K, pack, c.memory == "local" and "yes" or "no"), constants(c))
end)
