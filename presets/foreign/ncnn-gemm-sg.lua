-- presets/foreign/ncnn-gemm-sg.lua: ncnn's matrix product by subgroups (gemm_sg.comp of its Vulkan layers) as it is: C = A B, A of M rows of
-- K, B of K rows of N; with pack=4 rows of A and C, and of B, lie in fours. A workgroup is a subgroup, which computes a tile of
-- UNROLL_SG_M x UNROLL_SG_N fours by fours; its invocations read UNROLL_SG_K deep, and hand on what they read.
local foreign = include "foreign.lua"

local cpu = device.is_cpu
local M, N, K = size("M", cpu and 64 or 1024), size("N", cpu and 64 or 1024), size("K", cpu and 64 or 1024)
local pack = choice("pack", { "4", "1" })
local lanes = size("subgroup", device.subgroup_size > 1 and device.subgroup_size or 32)
folder("ncnn", { file = "gemm_sg.comp", below = { "src/layer/vulkan/shader" }, what = "a checkout of ncnn, or its src/layer/vulkan/shader" })
if device.subgroup_most == 0 and device.subgroup_size > 1 and lanes ~= device.subgroup_size then
  error("subgroup is " .. device.subgroup_size .. " here (the device does not let kernels choose)")
end
if M % 4 + N % 4 + K % 4 > 0 then error("M, N and K are multiples of 4 here (an invocation computes 4 x 4, and reads as much)") end

-- Invocations without a row or column of their tile read behind the matrices: `behind` elements more lie there.
local whole, fours, behind = { -4, 4, whole = true }, pack == "4", 4 * lanes
local four = fours and 4 or 1
operator.define {
  name      = "ncnn_gemm_sg",
  flop      = 2 * M * N * K,
  inputs    = { { "A", (M + behind) * K, fill = whole }, { "B", (K * N + behind * four), fill = whole } },
  output    = fours and { "C", M // 4, N, 4 } or { "C", M, N },
  reference = {
    { "strided", "A", "ROWS", count = (M + behind) * K, n2 = M // four, n3 = four, n4 = K, s2 = four * K, s3 = 1, s4 = four },
    { "strided", "B", "COLUMNS", count = K * N + behind * four, n2 = K // four, n3 = four, n4 = N, s2 = four * N, s3 = 1, s4 = four },
    { "matmul", "ROWS", "COLUMNS", fours and "PRODUCT" or "C", N = M, M = N, K = K },
    fours and { "strided", "PRODUCT", "C", count = M * N, n2 = M // 4, n3 = N, n4 = 4, s2 = 4 * N, s3 = 1, s4 = N } or nil,
  },
  tolerance = { nmse = 5e-4, exact = true },
}

param.UNROLL_SG_M = discrete { 1, 2, 4, 8, 16, 32, 64 }
param.UNROLL_SG_N = discrete { 1, 2, 4, 8, 16, 32, 64 }
param.UNROLL_SG_K = discrete { 1, 2, 4, 8, 16, 32, 64 }
param.sizes       = categorical { "pushed", "constant" }

constraint("the tile takes the subgroup", function(c) return c.UNROLL_SG_M * c.UNROLL_SG_N == lanes end)
constraint("the rows of A are read", function(c) return c.UNROLL_SG_M * c.UNROLL_SG_K <= lanes end)
constraint("the columns of B are read", function(c) return c.UNROLL_SG_N * c.UNROLL_SG_K <= lanes end)

local function tiles(count, unrolled) return (count + 4 * unrolled - 1) // (4 * unrolled) end
resources(function(c) return { invocations = { lanes }, groups = { tiles(M, c.UNROLL_SG_M) * tiles(N, c.UNROLL_SG_N) } } end)

local function constants(c)
  local is_constant = c.sizes == "constant"
  return { { 6, "constantC", 1 }, { 7, "M", is_constant and M or 0 }, { 8, "N", is_constant and N or 0 }, { 9, "K", is_constant and K or 0 },
    { 10, "constant_broadcast_type_C", -1 }, { 15, "UNROLL_SG_M", c.UNROLL_SG_M }, { 16, "UNROLL_SG_N", c.UNROLL_SG_N },
    { 17, "UNROLL_SG_K", c.UNROLL_SG_K }, { 233, "local_size_x", lanes }, { 234, "local_size_y", 1 }, { 235, "local_size_z", 1 } }
end

kernel {
  shader   = "ncnn/gemm_sg.comp", include = { "ncnn" }, preamble = foreign.ncnn_local_size,
  bindings = { "C", "A", "B", "A", "C", "A", "B" },                           -- the fourth: what is added, nothing here
  define   = function() return foreign.ncnn(false) end,
  spec     = function(c) return foreign.spec(constants(c)) end,
  push     = function() return { M, N, K, -1, 2, K, 2, N, 2, N, four, four, four } end,
  subgroup = device.subgroup_most > 0 and function() return lanes end or nil,
}

-- The tile nearest to a square, as deep as the subgroup allows.
local rows = 1
while rows * rows < lanes do rows = 2 * rows end
baseline { square = { UNROLL_SG_M = rows, UNROLL_SG_N = lanes // rows, UNROLL_SG_K = lanes // rows, sizes = "pushed" } }

export("constants", function(c)
  return foreign.header("gemm_sg", ("M=%d N=%d K=%d, pack %s, subgroups of %d"):format(M, N, K, pack, lanes), constants(c))
end)
