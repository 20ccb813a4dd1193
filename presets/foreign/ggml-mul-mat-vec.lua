-- presets/foreign/ggml-mul-mat-vec.lua: ggml's product of a matrix with up to eight vectors (mul_mat_vec*.comp) as it is, with what it
-- ships: D = A B^T, A of M rows of K weights, B of N vectors. This is what makes tokens: it is rated by the bytes that it reads.
local subgroups, foreign, ggml = include "subgroups.lua", include "foreign.lua", include "ggml.lua"

local M, N, K = size("M", device.is_cpu and 256 or 4096), size("N", 1), size("K", device.is_cpu and 256 or 4096)
local kind = choice("type", { "q4_K", "q6_K", "q4_0", "q8_0", "f16", "f32" }) -- of A
local products = choice("products", { "float", "dot" })                       -- dot: products of four bytes (mul_mat_vecq.comp), B as q8_1
local experts = ggml.experts(K)                                               -- MUL_MAT_ID: one token, with some experts' matrices
folder("ggml", { file = "types.glsl", below = { "src/ggml-vulkan/vulkan-shaders", "ggml/src/ggml-vulkan/vulkan-shaders" },
                 what = "a checkout of llama.cpp or ggml, or its vulkan-shaders" })

local is_dot = products == "dot"
local in_256s = kind == "q4_K" or kind == "q6_K"                              -- sixteen invocations a block
local bits = ({ q4_K = 4.5, q6_K = 6.5625, q4_0 = 4.5, q8_0 = 8.5, f16 = 16, f32 = 32 })[kind]
local whole = { -4, 4, whole = true }
local is_block = kind ~= "f16" and kind ~= "f32"
if is_dot and not is_block then error("mul_mat_vecq.comp multiplies blocks of weights (products=float for " .. kind .. ")") end
if is_dot and not device.dot then error("the device has no dot products of four bytes (VK_KHR_shader_integer_dot_product)") end
if is_dot and K % 128 > 0 then error("K is a multiple of 128 here: four blocks of q8_1 lie together") end
if experts and (N > 1 or is_dot) then error("with experts there is one token (N=1, products=float)") end

local function matrix(rows) return is_block and { "A", rows, K, blocks = kind } or { "A", rows, K, type = kind, fill = whole } end
operator.define(experts and experts.operator("ggml_mul_mat_vec_id", matrix(experts.count * M), kind, M, N, K, bits) or {
  name      = "ggml_mul_mat_vec",
  flop      = 2 * M * N * K,
  bytes     = M * K * bits / 8 + 4 * N * (M + K),
  inputs    = { matrix(M), { "B", N, K, fill = whole } },
  output    = { "D", N, M },
  reference = kind == "f32" and { { "matmul", "B", "A", "D", N = N, M = M, K = K, layout = "nt" } } or {
    { "dequantize", "A", "W" },
    { "matmul", "B", "W", "D", N = N, M = M, K = K, layout = "nt" },
  },
  tolerance = { nmse = 5e-4, exact = true },
})

param.BLOCK_SIZE = discrete { 4, 8, 16, 32, 64, 128, 256 }
param.NUM_ROWS   = discrete { 1, 2, 4, 8 }
param.sum        = categorical { "shared", "subgroups", "subgroup" }          -- how an output's parts are added up
local subgroup   = subgroups.choose(function(c) return c.BLOCK_SIZE end)
local warp       = subgroups.size

constraint("whole subgroups", function(c) return c.sum == "shared" or c.BLOCK_SIZE % warp(c) == 0 end)
constraint("one subgroup", function(c) return c.sum ~= "subgroup" or c.BLOCK_SIZE == warp(c) end)
constraint("sixteen a block", function(c) return is_dot or not in_256s or c.BLOCK_SIZE >= 16 end)
constraint("sums of an invocation", function(c) return c.NUM_ROWS * N <= (device.is_cpu and math.max(4, 2 * N) or 64) end) -- more: minutes in a compiler

resources(function(c) return {
  invocations  = { c.BLOCK_SIZE },
  shared_bytes = c.sum == "subgroup" and 0 or 4 * N * c.NUM_ROWS * c.BLOCK_SIZE,
  groups       = { (M + c.NUM_ROWS - 1) // c.NUM_ROWS, experts and experts.used or 1 },
} end)

local function constants(c) return { { 0, "BLOCK_SIZE", c.BLOCK_SIZE }, { 1, "NUM_ROWS", c.NUM_ROWS }, { 2, "NUM_COLS", N } } end

if is_dot then
  local blocks = N * (K // 32)
  kernel {
    template = "q8_1.comp", values = function() return { packed_rows = N } end, once = true, groups = function() return { (blocks + 63) // 64 } end,
  }
  scratch(function() return blocks // 4 * 144 end)
end
local b = is_dot and "scratch" or "B"
kernel {
  shader = "ggml/mul_mat_vec" .. (is_dot and "q" or in_256s and "_" .. kind:lower() or "") .. ".comp", include = { "ggml" },
  bindings = { "A", b, "D", b, b, experts and "IDS" or nil },                 -- the two behind D: what is fused, nothing here
  subgroup = subgroup,
  define = function(c)
    local all = {
      D_TYPE = "float", LOAD_VEC_A = 1, FLOAT_TYPE = "float", FLOAT_TYPEV2 = "vec2", ACC_TYPE = is_dot and "float" or nil,
      USE_SUBGROUP_ADD = c.sum == "subgroups", USE_SUBGROUP_ADD_NO_SHMEM = c.sum == "subgroup",
    }
    if not is_dot then all.B_TYPE, all.B_TYPEV2, all.B_TYPEV4 = "float", "vec2", "vec4" end -- else the file has its own
    all["DATA_A_" .. kind:upper()], all.MUL_MAT_ID = true, experts ~= nil
    return all
  end,
  spec = function(c) return foreign.spec(constants(c)) end,
  push = function() -- columns, strides, those of a batch; what is fused; base, ne02, ne12, broadcasts
    -- of experts: those of a token, vectors of a token, the token, from token to token of the ids
    return experts and { K, K, K, M, M * K, K, experts.used * M, 0, experts.used, 1, 0, experts.used }
        or { K, K, K, M, M * K, K, M, 0, 0, 1, 1, 1, 1 }
  end,
}

-- What ships: with one subgroup and with four; GCN, whose subgroups have 64 lanes, computes twice as many rows.
local w = device.subgroup_size
local block, rows = in_256s and not is_dot and math.max(w, 16) or w, not is_dot and ({ q4_K = 2, q6_K = 2, q4_0 = 2, f16 = 2 })[kind] or 1
local function tuple(times, rows)
  return { BLOCK_SIZE = times * block, NUM_ROWS = rows, sum = block ~= w and "shared" or times == 1 and "subgroup" or "subgroups",
           subgroup_size = subgroup and w or nil }
end
baseline { usual = tuple(1, rows), large = tuple(4, rows), gcn = w == 64 and is_block and tuple(1, 2 * rows) or nil }

local name = "mul_mat_vec" .. (is_dot and "q" or "") .. (experts and "_id" or "")
local function about(c) return (name .. " %s%s, M=%d N=%d K=%d; sums by %s"):format(kind, experts and experts.about or "", M, N, K, c.sum) end
export("constants", function(c) return foreign.header(name, about(c), constants(c)) end)
-- The host has the rows of some types in common; workgroups are one subgroup or four.
local setting, times = table.unpack(({ q4_K = { "rm_kq", 1 }, q6_K = { "rm_kq", 1 }, q4_0 = { "rm_stdq", 2 }, q8_0 = { "rm_stdq", 1 } })[kind] or {})
if is_dot then setting, times = setting .. "_int", 1 end
local function print(c, found)
  if not setting then return nil, "ggml has no setting for the rows of " .. kind end
  return foreign.diff("ggml-vulkan.cpp", about(c), { { setting, { rows // times }, { c.NUM_ROWS // times } } }, found)
end
local function settings(c)
  if not setting then return nil, "ggml has no setting for the rows of " .. kind end
  if c.NUM_ROWS % times ~= 0 then return nil, "ggml computes a multiple of " .. times .. " rows, and the trial has NUM_ROWS=" .. c.NUM_ROWS end
  if c.BLOCK_SIZE ~= block and c.BLOCK_SIZE ~= 4 * block then
    return nil, ("ggml's workgroups have %d or %d invocations here, and the trial has BLOCK_SIZE=%d"):format(block, 4 * block, c.BLOCK_SIZE)
  end
  if c.NUM_ROWS == rows then return nil, "it is what ships: there is nothing to change" end
  return { { place = ggml.rows, name = setting, value = tostring(c.NUM_ROWS // times) } }
end
local test = experts and "MUL_MAT_ID" or "MUL_MAT"
export("ggml", print, ggml.host(settings, "build ggml's tests with its Vulkan backend; `test-backend-ops test -o " .. test .. "` shows OK in each line of " .. test
  .. " (n=1 to 8 are these), `test-backend-ops perf -o " .. test .. "` the speeds before and after, of all types that share " .. (setting or "them")))
