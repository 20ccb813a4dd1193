-- presets/foreign/ggml-flash-attn.lua: ggml's attention without matrix units (flash_attn.comp of its Vulkan backend) as it is, with the
-- tuple that it ships for these sizes: N queries of some heads, keys and values of as many heads or fewer, and a mask
local foreign, subgroups = include "foreign.lua", include "subgroups.lua"

local cpu = device.is_cpu
local N, KV = size("N", cpu and 8 or 512), size("KV", cpu and 128 or 4096)
local heads, kv_heads = size("heads", cpu and 4 or 32), size("kv_heads", cpu and 2 or 8)
local HSK, HSV = size("HSK", cpu and 64 or 128), size("HSV", cpu and 64 or 128)
local kind = choice("type", { "f16", "q8_0", "q4_0" })                        -- of keys and values
local float = choice("float", { "f32", "f16" })                               -- what is multiplied and kept; sums are f32
folder("ggml", { file = "types.glsl", below = { "src/ggml-vulkan/vulkan-shaders", "ggml/src/ggml-vulkan/vulkan-shaders" },
                 what = "a checkout of llama.cpp or ggml, or its vulkan-shaders" })
if heads % kv_heads > 0 then error("heads share keys evenly: kv_heads divides heads") end
if HSK % 32 + HSV % 32 > 0 then error("HSK and HSV are multiples of 32 here") end

local half, is_block, ratio, scale = float == "f16", kind ~= "f16", heads // kv_heads, 1 / math.sqrt(HSK)
-- One query: the heads that share keys are the rows of a workgroup.
local shared_heads = N == 1 and ratio > 1
local rows = shared_heads and ratio or N

local function input(name, columns)
  return is_block and { name, kv_heads * KV, columns, blocks = kind, fill = { -1, 1 } } or { name, kv_heads * KV, columns, type = "f16", fill = { -1, 1 } }
end
operator.define {
  name      = "ggml_flash_attn",
  flop      = 2 * heads * N * KV * (HSK + HSV),
  inputs    = { { "Q", heads, N, HSK, fill = { -1, 1 } }, input("K", HSK), input("V", HSV), { "MASK", N, KV, type = "f16", fill = { -4, 4 } } },
  output    = { "O", N, heads, HSV },
  reference = {
    { "dequantize", "K", "KEYS" }, { "dequantize", "V", "VALUES" }, { "dequantize", "MASK", "M" },
    { "strided", "M", "MASKS", count = N * KV, n3 = heads, n4 = N * KV },
    { "batch_matmul", "Q", "KEYS", "MASKS", "S", batch = kv_heads, N = ratio * N, M = KV, K = HSK, layout = "nt", scale = scale, residual = "add" },
    { "softmax", "S", "P", rows = heads * N, columns = KV },
    { "batch_matmul", "P", "VALUES", "OF_HEADS", batch = kv_heads, N = ratio * N, M = HSV, K = KV },
    { "strided", "OF_HEADS", "O", count = heads * N * HSV, n2 = N, n3 = heads, n4 = HSV, s2 = HSV, s3 = N * HSV },
  },
  tolerance = { nmse = 5e-4 },                                                -- as ggml's own tests have it
}

param.WorkGroupSize = discrete { 32, 64, 128, 256, 512 }
param.Br            = discrete { 1, 2, 4, 8, 16 }                             -- rows of a workgroup
param.Bc            = discrete { 16, 32, 64, 128 }                            -- keys that it looks at, at once
param.D_split       = discrete { 1, 2, 4, 8, 16, 32 }                         -- invocations along a row of K and V
param.row_split     = discrete { 1, 2, 4 }                                    -- parts of a workgroup with rows of their own
param.subgroups     = categorical(device.subgroup_shuffles and { "yes", "no" } or { "no" }) -- parts are added up by subgroups
param.staging       = categorical { "no", "yes" }                             -- of K and V in shared memory
local subgroup, warp = subgroups.choose(function(c) return c.WorkGroupSize end), subgroups.size

local function keys_at_once(c) return c.WorkGroupSize // (c.D_split * c.row_split) end
local function held(c) return c.Br // c.row_split * (HSV // c.D_split + c.Bc // math.max(keys_at_once(c), 1)) end
local function shared_bytes(c)
  local number, parts = half and 2 or 4, c.WorkGroupSize
  if c.subgroups == "yes" then parts = c.WorkGroupSize // warp(c) * (c.row_split == 1 and c.D_split or 1) end
  local staged = c.staging == "yes" and c.Bc * (math.max(HSK, HSV) // 4 + 1) or 1
  return parts * (4 + 4 * number) + c.Bc * (c.Br + 1) * number + 4 * number * (c.Br * (HSK // 4 + 1) + staged) + 16
end

constraint("invocations divide rows of K and V", function(c) return HSK // 4 % c.D_split == 0 and HSV // 4 % c.D_split == 0 end)
constraint("invocations divide keys and rows", function(c)
  local n = keys_at_once(c)
  return n >= 1 and c.Bc % n == 0 and c.Br % c.row_split == 0
end)
constraint("whole subgroups", function(c) return c.WorkGroupSize % warp(c) == 0 end)
constraint("a subgroup has a row's parts", function(c) return c.D_split <= warp(c) end) -- it adds up products in any case
constraint("a subgroup adds up a row", function(c)
  return c.subgroups == "no" or c.row_split == 1 or c.WorkGroupSize == c.row_split * warp(c)
end)
constraint("numbers of an invocation", function(c) return held(c) <= (cpu and 128 or 512) end) -- more: minutes in a compiler

resources(function(c) return {
  invocations  = { c.WorkGroupSize },
  shared_bytes = shared_bytes(c),
  accumulators = held(c),
  groups       = shared_heads and { 1, kv_heads } or { (N + c.Br - 1) // c.Br, heads },
} end)

local types, block_bytes = { f16 = 1, q4_0 = 2, q8_0 = 8 }, { f16 = 2, q4_0 = 18, q8_0 = 34 }
local function constants(c)
  return { { 0, "WorkGroupSize", c.WorkGroupSize }, { 1, "Br", c.Br }, { 2, "Bc", c.Bc }, { 3, "HSK", HSK }, { 4, "HSV", HSV },
    { 5, "Clamp", KV % c.Bc > 0 and 1 or 0 }, { 6, "D_split", c.D_split }, { 7, "row_split", c.row_split },
    { 8, "SubGroupSize", c.subgroups == "yes" and warp(c) or 0 }, { 9, "SHMEM_STAGING", c.staging == "yes" and 1 or 0 }, { 10, "Flags", 2 },
    { 11, "LIMIT_OCCUPANCY_SHMEM", 0 }, { 12, "FaTypeK", types[kind] }, { 13, "FaTypeV", types[kind] },
    { 14, "FaBlockBytesK", block_bytes[kind] }, { 15, "FaBlockBytesV", block_bytes[kind] } }
end

-- From row to row in blocks (elements where there are none), from head to head in bytes.
local function strides(columns)
  local row = is_block and columns // 32 or columns
  return row, KV * row * block_bytes[kind], kv_heads * KV * row * block_bytes[kind]
end
kernel {
  shader = "ggml/flash_attn.comp", include = { "ggml" }, subgroup = subgroup,
  bindings = { "Q", "K", "V", "MASK", "Q", "O", "MASK" },                     -- sinks, and what is known of the mask: neither here
  define = function()
    return { Q_TYPE = "float", D_TYPE = "float", D_TYPEV4 = "vec4", ACC_TYPE = "float", ACC_TYPEV2 = "vec2", ACC_TYPEV4 = "vec4",
             FLOAT_TYPE = half and "float16_t" or "float", FLOAT_TYPEV2 = half and "f16vec2" or "vec2", FLOAT_TYPEV4 = half and "f16vec4" or "vec4",
             FLOAT16 = half, FLOAT_TYPE_MAX = half and "float16_t(65504.0)" or nil, DATA_A_IQ4_NL = true }
  end,
  spec = function(c) return foreign.spec(constants(c)) end,
  push = function() -- sizes; strides of Q, K, V; scale, ALiBi, cap; heads that share keys; parts of KV
    local nb11, nb12, nb13 = strides(HSK)
    local nb21, nb22, nb23 = strides(HSV)
    return { rows, KV, heads, N, 1, heads, 1, kv_heads, 1, kv_heads, 1, N, 1, 1,
      HSK, 4 * N * HSK, 4 * heads * N * HSK, nb11, nb12, nb13, nb21, nb22, nb23,
      scale, 0.0, 0.0, 0, 1.0, 1.0, shared_heads and ratio or 1, KV, 1 }
  end,
}

-- The tuples that ship for these sizes, as the host chooses it: for most devices, and for Intel's, which does without subgroups.
local function shipped(warp, subgroups, few_rows, staging)
  local D = HSK | HSV
  local split = (rows < 4 or HSK <= 64) and 1 or 4
  local fewer = D & 8 > 0 or KV < 1024 or few_rows
  local twice = warp > 32 and (rows < 4 or HSK < (split == 1 and 128 or 64))
  local c = { WorkGroupSize = warp * (twice and 2 or 4), row_split = split, subgroups = subgroups, staging = staging,
              D_split = math.min(warp, 8, (D & -D) // 4), subgroup_size = subgroup and device.subgroup_size or nil }
  if rows == 1 then
    c.Br, c.Bc = 1, 64
  else
    c.Br = split == 1 and (rows == 2 and 2 or (rows <= 4 or fewer) and 4 or 8) or rows <= 4 and 4 or (rows <= 8 or fewer) and 8 or 16
    c.Bc = D & 8 > 0 and 64 or 32
  end
  return c
end
local size, usual = device.subgroup_size, device.subgroup_shuffles and "yes" or "no"
baseline {
  usual = shipped(size, usual, false, "no"), intel = shipped(32, "no", true, "no"),
  nvidia = HSK < 256 and HSV < 256 and shipped(size, usual, false, "yes") or nil,
}

export("constants", function(c)
  return foreign.header("flash_attn", ("%d queries, %d keys, %d heads (%d of keys), %d and %d wide, K and V %s"):format(
    N, KV, heads, kv_heads, HSK, HSV, kind), constants(c))
end)
