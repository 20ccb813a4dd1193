-- presets/foreign/ggml-mul-mm.lua: ggml's matrix product (mul_mm.comp of its Vulkan backend) as it is, with the tiles that it ships:
-- D = A B^T, A of M rows of K weights, B of N rows of K; D lies column by column, which is N rows of M
local subgroups, foreign, ggml = include "subgroups.lua", include "foreign.lua", include "ggml.lua"

local M, N, K = size("M", device.is_cpu and 64 or 4096), size("N", device.is_cpu and 64 or 512), size("K", device.is_cpu and 256 or 4096)
local kind = choice("type", { "f32", "f16", "q4_0", "q8_0", "q4_K" })        -- of A
local float = choice("float", { "f32", "f16" })                               -- what is multiplied; sums are f32
folder("ggml", { file = "types.glsl", below = { "src/ggml-vulkan/vulkan-shaders", "ggml/src/ggml-vulkan/vulkan-shaders" },
                 what = "a checkout of llama.cpp or ggml, or its vulkan-shaders" })

local block_loads = ({ q4_0 = 8, q8_0 = 4, q4_K = 4 })[kind]                  -- weights that an invocation unpacks at once
local whole = { -4, 4, whole = true }

operator.define {
  name      = "ggml_mul_mm",
  flop      = 2 * M * N * K,
  inputs    = { block_loads and { "A", M, K, blocks = kind } or { "A", M, K, type = kind, fill = whole }, { "B", N, K, fill = whole } },
  output    = { "D", N, M },
  reference = kind == "f32" and { { "matmul", "B", "A", "D", N = N, M = M, K = K, layout = "nt" } } or {
    { "dequantize", "A", "W" },
    { "matmul", "B", "W", "D", N = N, M = M, K = K, layout = "nt" },
  },
  tolerance = { nmse = 5e-4, exact = true },                                  -- as ggml's own tests have it
}

-- The tuple: BLOCK_SIZE invocations compute BM x BN of D, each subgroup WM x WN of that, in WMITER steps, each invocation TM x TN a step.
param.BLOCK_SIZE = discrete { 8, 16, 32, 64, 128, 256 }
param.BM         = discrete { 16, 32, 64, 128 }
param.BN         = discrete { 16, 32, 64, 128 }
param.WM         = discrete { 4, 8, 16, 32, 64, 128 }
param.WN         = discrete { 8, 16, 32, 64, 128 }
param.WMITER     = discrete { 1, 2, 4 }
param.TM         = discrete { 2, 4, 8 }                                       -- even: sums are indexed by TM / 2
param.TN         = discrete { 1, 2, 4, 8 }
param.load       = discrete((float == "f16" or kind ~= "f16") and { 1, 4, 8 } or { 1, 4 }) -- LOAD_VEC of what is no block; above 1 ALIGNED
param.split_k    = discrete { 1, 2, 4, 8 }
local subgroup   = subgroups.choose(function(c) return c.BLOCK_SIZE end)
local warp       = subgroups.size

local BK, most_sums = 32, device.is_cpu and 64 or 256                         -- more sums: minutes in a compiler, or wrong
local function parts(c) return c.WM * c.WN // (warp(c) * c.TM * c.TN * c.WMITER) end
local function aligned(c) return M % c.BM == 0 and N % c.BN == 0 and K % BK == 0 end

constraint("subgroups tile a block", function(c)
  return c.BM % c.WM == 0 and c.BN % c.WN == 0 and c.BM // c.WM * (c.BN // c.WN) * warp(c) == c.BLOCK_SIZE
end)
constraint("invocations tile a subgroup's part", function(c)
  local n = parts(c)
  return n >= 1 and n * warp(c) * c.TM * c.TN * c.WMITER == c.WM * c.WN and c.WM % c.WMITER == 0 and c.WM // c.WMITER % c.TM == 0
     and c.WN % n == 0 and c.WN // n % c.TN == 0
end)
constraint("loads fill a tile", function(c)
  local function fill(rows, each) return c.BLOCK_SIZE * each % BK == 0 and rows % (c.BLOCK_SIZE * each // BK) == 0 end
  local each = c.load > 1 and c.load or 2 -- two, one by one
  return fill(c.BM, block_loads or each) and fill(c.BN, each)
end)
constraint("what is aligned is whole", function(c)
  return c.load == 1 and not block_loads or (c.load == 1 or aligned(c)) and M % c.BM == 0 and K % BK == 0
end)
constraint("parts of K", function(c) return c.split_k == 1 or K >= 256 * c.split_k end)
local function shared_bytes(c) return (c.BM + c.BN) * (BK // 2 + 1) * (float == "f16" and 4 or 8) end
constraint("sums of an invocation", function(c) -- where there is room at all
  return shared_bytes(c) > device.shared_bytes or c.WM * c.WN // warp(c) <= most_sums
end)

resources(function(c) return {
  invocations  = { c.BLOCK_SIZE },
  shared_bytes = shared_bytes(c),
  accumulators = c.WM * c.WN // warp(c),
  groups       = { (M + c.BM - 1) // c.BM * c.split_k, (N + c.BN - 1) // c.BN },
} end)

local function constants(c)
  local all = { { 0, "BLOCK_SIZE", c.BLOCK_SIZE }, { 1, "BM", c.BM }, { 2, "BN", c.BN }, { 4, "WM", c.WM }, { 5, "WN", c.WN },
    { 6, "WMITER", c.WMITER }, { 7, "TM", c.TM }, { 8, "TN", c.TN }, { 9, "TK", 1 }, { 10, "WARP", warp(c) },
    { 11, "ALIGNED", c.load > 1 and 1 or 0 } }
  if block_loads then table.insert(all, { 3, "BK", BK }) end
  return all
end

local names = { [1] = "", [4] = "vec4", [8] = "mat2x4" }
local function product(bindings, when)
  kernel {
    shader = "ggml/mul_mm.comp", include = { "ggml" }, bindings = bindings, when = when, subgroup = subgroup,
    define = function(c)
      local half = float == "f16"
      local all = {
        LOAD_VEC_A = block_loads or c.load, LOAD_VEC_B = c.load, D_TYPE = "float", ACC_TYPE = "float", ACC_TYPEV2 = "vec2",
        B_TYPE = c.load == 1 and "float" or names[c.load], B_TYPE_SCALAR = "float", FLOAT16 = half,
        FLOAT_TYPE = half and "float16_t" or "float", FLOAT_TYPEV2 = half and "f16vec2" or "vec2",
        FLOAT_TYPEV4 = half and "f16vec4" or "vec4", FLOAT_TYPEV8 = half and "f16mat2x4" or "mat2x4",
      }
      all["DATA_A_" .. kind:upper()] = true
      return all
    end,
    spec = function(c) return foreign.spec(constants(c)) end,
    push = function(c) -- sizes, strides, those of a batch; base, batches, a part of K; ne02, ne12, broadcasts
      local part = c.split_k == 1 and K or (K + 256 * c.split_k - 1) // (256 * c.split_k) * 256
      return { M, N, K, K, K, M, M * K, N * K, M * N, 0, 1, part, 1, 1, 1, 1 }
    end,
  }
end

local function is_split(c) return c.split_k > 1 end
product({ "A", "B", "D" }, function(c) return not is_split(c) end)
product({ "A", "B", "scratch" }, is_split)
kernel {
  shader = "ggml/mul_mat_split_k_reduce.comp", include = { "ggml" }, bindings = { "scratch", "D" }, when = is_split,
  push = function(c) return { M * N, c.split_k } end,
  groups = function(c) return { (M * N + 1023) // 1024 } end,
}
scratch(function(c) return is_split(c) and 4 * M * N * c.split_k or 0 end)

-- What ships, large, medium and small; which of them is used depends on M and N.
local w = device.subgroup_size
local function tuple(block, bm, bn, wm, wn, tm, tn)
  local c = { BLOCK_SIZE = block, BM = bm, BN = bn, WM = wm, WN = wn, WMITER = 2, TM = tm, TN = tn, split_k = 1 }
  c.load = aligned(c) and (float == "f16" and 8 or 4) or 1
  c.subgroup_size = subgroup and w or nil
  return c
end
local shipped = {
  large  = tuple(128, 128, 128, 2 * w, 64, 4, 4),
  medium = tuple(128, 64, 64, w, 32, 4, 2),
  small  = tuple(math.max(w, 32), 32, 32, w == 8 and 8 or 32, 32, 2, 2),
}
baseline(shipped)

local function about(c)
  return ("mul_mm %s, M=%d N=%d K=%d, subgroups of %d; loads of %d%s, K in %d"):format(
    kind, M, N, K, warp(c), c.load, c.load > 1 and " (ALIGNED)" or "", c.split_k)
end
export("constants", function(c) return foreign.header("mul_mm", about(c), constants(c)) end)
-- What a shape takes: a tuple that does not fit the shared memory is not used.
local function size_of(m, n)
  local size = (m <= 32 or n <= 32) and "small" or (m <= 64 or n <= 64) and "medium" or "large"
  return size == "large" and shared_bytes(shipped.large) > device.shared_bytes and "medium" or size
end

-- Tuples of the host, which has some for blocks of weights, in order of the constants.
local suffix, depth = block_loads and "_mmq" or "", block_loads and BK or 16
local function values(t, warp) return { t.BLOCK_SIZE, t.BM, t.BN, depth, t.WM, t.WN, t.WMITER, t.TM, t.TN, 1, warp } end
local function sizes_of(found) -- "large" and so on: what the shapes take, each once
  local all, seen = {}, {}
  for _, shape in ipairs(found.shapes) do
    local size = size_of(shape.M or M, shape.N or N)
    if not seen[size] then table.insert(all, size) end
    seen[size] = true
  end
  return all
end

local function print(c, found)
  local changes = {}
  for _, size in ipairs(sizes_of(found)) do
    table.insert(changes, { size:sub(1, 1) .. "_warptile" .. suffix, values(shipped[size], w), values(c, warp(c)) })
  end
  return foreign.diff("ggml-vulkan.cpp", about(c), changes, found)
end

local function settings(c, found)
  if c.split_k > 1 then return nil, "ggml chooses the parts of K by itself, and the trial has split_k=" .. c.split_k end
  if c.load ~= shipped.medium.load then
    return nil, ("ggml loads %d elements at once here, and the trial has load=%d"):format(shipped.medium.load, c.load)
  end
  local all = {}
  for _, size in ipairs(sizes_of(found)) do
    local letter, counted = size:sub(1, 1), shipped[size]
    local function tuple(t, warp) return "{ " .. table.concat(values(t, warp), ", ") .. " }" end
    if tuple(c, warp(c)) ~= tuple(counted, w) then
      table.insert(all, { place = ggml.tuples, name = letter .. "_warptile" .. suffix, value = tuple(c, warp(c)) })
    end
    if c.BM ~= counted.BM or c.BN ~= counted.BN then
      table.insert(all, { place = ggml.denominators, name = letter .. suffix .. "_wg_denoms", value = ("{ %d, %d, 1 }"):format(c.BM, c.BN) })
    end
  end
  if #all == 0 then return nil, "it is what ships: there is nothing to change" end
  return all
end
export("ggml", print, ggml.host(settings, "build ggml's tests with its Vulkan backend; `test-backend-ops test -o MUL_MAT` shows OK in each line of MUL_MAT, "
  .. "`test-backend-ops perf -o MUL_MAT` the speeds before and after"))
