-- presets/foreign/ggml-mul-mmq.lua: ggml's matrix product of quantised weights by dot products of four bytes (mul_mmq.comp) as it is,
-- with the tiles that it ships: D = A B^T, A of M rows of K weights, B of N rows of K, which are packed as q8_1 before they are read
local foreign, tiles = include "foreign.lua", include "ggml_tiles.lua"

local M, N, K = size("M", device.is_cpu and 64 or 4096), size("N", device.is_cpu and 64 or 512), size("K", device.is_cpu and 256 or 4096)
local kind = choice("type", { "q4_0", "q8_0", "q4_K", "q6_K" })              -- of A
local float = choice("float", { "f32", "f16" })                               -- of scales; sums are f32
folder("ggml", { file = "types.glsl", below = { "src/ggml-vulkan/vulkan-shaders", "ggml/src/ggml-vulkan/vulkan-shaders" },
                 what = "a checkout of llama.cpp or ggml, or its vulkan-shaders" })
if not device.dot then error("the device has no dot products of four bytes (VK_KHR_shader_integer_dot_product)") end
if K % 128 > 0 then error("K is a multiple of 128 here: four blocks of q8_1 lie together") end

local half, in_256s = float == "f16", kind == "q4_K" or kind == "q6_K"
operator.define {
  name      = "ggml_mul_mmq",
  flop      = 2 * M * N * K,
  inputs    = { { "A", M, K, blocks = kind }, { "B", N, K, fill = { -4, 4, whole = true } } },
  output    = { "D", N, M },
  reference = {
    { "dequantize", "A", "W" },
    { "matmul", "B", "W", "D", N = N, M = M, K = K, layout = "nt" },
  },
  tolerance = { nmse = 5e-4, exact = true },
}

-- A block of 32 weights in shared memory: its words, and one or two numbers behind them.
local words, numbers = ({ q4_0 = 4, q4_K = 4 })[kind] or 8, in_256s and 2 or 1
local function block_bytes(words, numbers) return half and 4 * words + 4 or numbers == 2 and 4 * words + 8 or 4 * words + 4 end
local steps = 4                                                               -- blocks along K at once (BK_STEP)
local t = tiles.declare {
  M = M, N = N, TM = { 1, 2, 4, 8 }, TN = { 1, 2, 4, 8 }, suffix = in_256s and "_mmq_int_k" or "_mmq_int", depth = 32,
  shipped_steps = in_256s and 1 or 2,
  shared_bytes = function(c) return steps * (c.BM * block_bytes(words, numbers) + c.BN * block_bytes(8, 2)) end,
}
t.constrain()
-- Without bounds: rows of A behind the last one would be read, those of B are zeros that we add.
constraint("whole blocks of rows", function(c) return M % c.BM == 0 end)
t.resources(function(c) return { t.blocks(c) } end)

local function packed_rows(c)
  local _, columns = t.blocks(c)
  return columns * c.BN
end
kernel {
  template = "q8_1.comp", values = function(c) return { packed_rows = packed_rows(c) } end, once = true,
  groups = function(c) return { (packed_rows(c) * (K // 32) + 63) // 64 } end,
}
kernel {
  shader = "ggml/mul_mmq.comp", include = { "ggml" }, bindings = { "A", "scratch", "D" }, subgroup = t.subgroup,
  define = function(c)
    local all = {
      D_TYPE = "float", ACC_TYPE = "float", FLOAT16 = half, FLOAT_TYPE = half and "float16_t" or "float",
      FLOAT_TYPEV2 = half and "f16vec2" or "vec2",
    }
    all["DATA_A_" .. kind:upper()] = true
    return all
  end,
  spec = function(c) return foreign.spec(t.constants(c)) end,
  push = function(c) return { M, N, K, K, K, M, M * K, N * K, M * N, 0, 1, K, 1, 1, 1, 1 } end,
}
scratch(function(c) return packed_rows(c) * (K // 128) * 144 end)

local shipped = t.shipped({ large = { 4, 4 }, medium = { 2, 2 }, small = { 2, 1 } }, function() end)
baseline(shipped)

local function about(c) return ("mul_mmq %s, M=%d N=%d K=%d, subgroups of %d"):format(kind, M, N, K, t.warp(c)) end
export("constants", function(c) return foreign.header("mul_mmq", about(c), t.constants(c)) end)
t.export_ggml(shipped, about, function() end)
