-- presets/foreign/ggml-mul-mm.lua: ggml's matrix product (mul_mm.comp of its Vulkan backend) as it is, with the tiles that it ships:
-- D = A B^T, A of M rows of K weights, B of N rows of K; D lies column by column, which is N rows of M
local foreign, ggml, tiles, matrix_units = include "foreign.lua", include "ggml.lua", include "ggml_tiles.lua", include "matrix_units.lua"

local M, N, K = size("M", device.is_cpu and 64 or 4096), size("N", device.is_cpu and 64 or 512), size("K", device.is_cpu and 256 or 4096)
local kind = choice("type", { "f32", "f16", "q4_0", "q8_0", "q4_K" })        -- of A
local units = choice("units", { "none", "khr" })                              -- khr: matrix units, by GL_KHR_cooperative_matrix
local float = choice("float", { "f32", "f16" }, units == "khr" and "f16" or "f32") -- what is multiplied; sums are f32
local experts = ggml.experts(K)                                               -- MUL_MAT_ID: N tokens, each with some experts' matrices
folder("ggml", { file = "types.glsl", below = { "src/ggml-vulkan/vulkan-shaders", "ggml/src/ggml-vulkan/vulkan-shaders" },
                 what = "a checkout of llama.cpp or ggml, or its vulkan-shaders" })

local block_loads = ({ q4_0 = 8, q8_0 = 4, q4_K = 4 })[kind]                  -- weights that an invocation unpacks at once
local whole = { -4, 4, whole = true }

local function matrix(rows) return block_loads and { "A", rows, K, blocks = kind } or { "A", rows, K, type = kind, fill = whole } end
operator.define(experts and experts.operator("ggml_mul_mm_id", matrix(experts.count * M), kind, M, N, K) or {
  name      = "ggml_mul_mm",
  flop      = 2 * M * N * K,
  inputs    = { matrix(M), { "B", N, K, fill = whole } },
  output    = { "D", N, M },
  reference = kind == "f32" and { { "matmul", "B", "A", "D", N = N, M = M, K = K, layout = "nt" } } or {
    { "dequantize", "A", "W" },
    { "matmul", "B", "W", "D", N = N, M = M, K = K, layout = "nt" },
  },
  tolerance = { nmse = 5e-4, exact = true },                                  -- as ggml's own tests have it
})

local is_khr, half = units == "khr", float == "f16"
if is_khr and not half then error("ggml's kernels with matrix units multiply f16 (float=f16)") end
local shapes = is_khr and matrix_units.shapes("khr", "f16", "f32") or {}
if is_khr and (device.matrix_api ~= "khr" or #shapes == 0) then
  error("the device has no matrix units that multiply f16 and sum in f32 by GL_KHR_cooperative_matrix (tilewalk devices lists what it has)")
end

local BK = 32
local function pad(c) return is_khr and c.SHMEM_STRIDE_PAD or 1 end
local t = tiles.declare {
  M = M, N = N, shapes = is_khr and shapes or nil, block_k = BK,
  TM = { 2, 4, 8 }, TN = { 1, 2, 4, 8 },                                      -- TM is even: sums are indexed by TM / 2
  suffix = (block_loads and "_mmq" or experts and "_" or "") .. (experts and "id" or ""), depth = block_loads and BK or 16,
  denominators = not experts and (block_loads and "_mmq" or "") .. "_wg_denoms" or nil, test = experts and "MUL_MAT_ID" or nil,
  shared_bytes = function(c, subgroups)
    return (c.BM + c.BN) * (BK // 2 + pad(c)) * (half and 4 or 8) + (is_khr and 4 * c.TM * c.TN * subgroups or 0)
      + (experts and 4 * c.BN + (c.row_ids == "subgroups" and 16 * subgroups or 0) or 0)
  end,
}
-- LOAD_VEC of what is no block; above 1 ALIGNED, which reads rows that an expert does not have
param.load    = discrete(experts and { 1 } or (half or kind ~= "f16") and { 1, 4, 8 } or { 1, 4 })
param.split_k = discrete(experts and { 1 } or { 1, 2, 4, 8 })
if experts then param.row_ids = categorical { "alone", "subgroups" } end      -- who finds the tokens of an expert
if is_khr then
  param.SHMEM_STRIDE_PAD    = discrete { 0, 4, 8 }                            -- rows begin at multiples of 16 bytes, as fragments ask
  param.APPLY_SLM_A_RESHAPE = categorical { "false", "true" }
end
t.constrain()

local function aligned(c) return M % c.BM == 0 and N % c.BN == 0 and K % BK == 0 end

constraint("loads fill a tile", function(c)
  local function fill(rows, each) return c.BLOCK_SIZE * each % BK == 0 and rows % (c.BLOCK_SIZE * each // BK) == 0 end
  local each = c.load > 1 and c.load or 2 -- two, one by one
  return fill(c.BM, block_loads or each) and fill(c.BN, each)
end)
constraint("what is aligned is whole", function(c)
  return c.load == 1 and not block_loads or (c.load == 1 or aligned(c)) and M % c.BM == 0 and K % BK == 0
end)
if is_khr and device.is_cpu then -- lavapipe gets those wrong that are not
  constraint("fragments are whole", function(c) return M % 4 == 0 and M % c.TM == 0 and N % c.TN == 0 end)
end
constraint("parts of K", function(c) return c.split_k == 1 or K >= 256 * c.split_k end)
t.resources(function(c)
  local rows, columns = t.blocks(c)
  return experts and { rows, (N * experts.used + c.BN - 1) // c.BN, experts.count } or { rows * c.split_k, columns }
end)

local function constants(c)
  local all = t.constants(c)
  table.insert(all, { 11, "ALIGNED", c.load > 1 and 1 or 0 })
  if block_loads then table.insert(all, { 3, "BK", BK }) end
  if is_khr then
    table.insert(all, { 12, "SHMEM_STRIDE_PAD", c.SHMEM_STRIDE_PAD })
    table.insert(all, { 13, "APPLY_SLM_A_RESHAPE", c.APPLY_SLM_A_RESHAPE == "true" })
  end
  return all
end

local names = { [1] = "", [4] = "vec4", [8] = "mat2x4" }
local function product(bindings, when)
  kernel {
    shader = "ggml/mul_mm.comp", include = { "ggml" }, bindings = bindings, when = when, subgroup = t.subgroup,
    define = function(c)
      local all = {
        LOAD_VEC_A = block_loads or c.load, LOAD_VEC_B = c.load, D_TYPE = "float", ACC_TYPE = "float", ACC_TYPEV2 = "vec2",
        B_TYPE = c.load == 1 and "float" or names[c.load], B_TYPE_SCALAR = "float", FLOAT16 = half, COOPMAT = is_khr,
        FLOAT_TYPE = half and "float16_t" or "float", FLOAT_TYPEV2 = half and "f16vec2" or "vec2",
        FLOAT_TYPEV4 = half and "f16vec4" or "vec4", FLOAT_TYPEV8 = half and "f16mat2x4" or "mat2x4",
      }
      all["DATA_A_" .. kind:upper()] = true
      if experts then all.MUL_MAT_ID, all.MUL_MAT_ID_USE_SUBGROUPS = true, c.row_ids == "subgroups" end
      return all
    end,
    spec = function(c) return foreign.spec(constants(c)) end,
    push = function(c) -- sizes, strides, those of a batch; base, batches, a part of K; ne02, ne12, broadcasts
      -- of experts: those of a token, tokens, from token to token of the ids, vectors of a token
      if experts then return { M, N, K, K, K, M, M * K, K, experts.used * M, experts.used, N, experts.used, 1 } end
      local part = c.split_k == 1 and K or (K + 256 * c.split_k - 1) // (256 * c.split_k) * 256
      return { M, N, K, K, K, M, M * K, N * K, M * N, 0, 1, part, 1, 1, 1, 1 }
    end,
  }
end

local function is_split(c) return c.split_k > 1 end
if experts then
  experts.counts()
  product { "A", "B", "D", "IDS", "scratch" }
else
  product({ "A", "B", "D" }, function(c) return not is_split(c) end)
  product({ "A", "B", "scratch" }, is_split)
  kernel {
    shader = "ggml/mul_mat_split_k_reduce.comp", include = { "ggml" }, bindings = { "scratch", "D" }, when = is_split,
    push = function(c) return { M * N, c.split_k } end,
    groups = function(c) return { (M * N + 1023) // 1024 } end,
  }
  scratch(function(c) return is_split(c) and 4 * M * N * c.split_k or 0 end)
end

-- What ships, large, medium and small; which of them is used depends on M and N.
local shipped = t.shipped({ large = { 4, 4 }, medium = { 4, 2 }, small = { 2, 2 } }, function(c)
  c.split_k, c.load = 1, not experts and aligned(c) and (half and 8 or 4) or 1
  if experts then c.row_ids = "subgroups" end
  if is_khr then c.SHMEM_STRIDE_PAD, c.APPLY_SLM_A_RESHAPE = 4, "false" end
end)
baseline(shipped)

local function about(c)
  return ("mul_mm %s%s, M=%d N=%d K=%d, subgroups of %d; loads of %d%s, K in %d"):format(
    kind, (is_khr and " (COOPMAT)" or "") .. (experts and experts.about or ""), M, N, K, t.warp(c), c.load, c.load > 1 and " (ALIGNED)" or "", c.split_k)
end
export("constants", function(c) return foreign.header("mul_mm", about(c), constants(c)) end)
t.export_ggml(shipped, about, function(c)
  if c.split_k > 1 then return "ggml chooses the parts of K by itself, and the trial has split_k=" .. c.split_k end
  if c.load ~= shipped.medium.load then
    return ("ggml loads %d elements at once here, and the trial has load=%d"):format(shipped.medium.load, c.load)
  end
  if is_khr and (c.SHMEM_STRIDE_PAD ~= 4 or c.APPLY_SLM_A_RESHAPE ~= "false") then
    return "ggml sets the padding and the order of A in shared memory for Intel's driver on Windows alone"
  end
end)
