-- presets/foreign/ggml-conv2d-mm.lua: ggml's convolution as a product of matrices that are gathered on the way (conv2d_mm.comp of its Vulkan
-- backend) as it is, with the blocks that it ships: K output channels, NPQ places of all images, CRS weights of a channel
local foreign, subgroups = include "foreign.lua", include "subgroups.lua"

local cpu = device.is_cpu
local batch, C, O = size("batch", 1), size("in_channels", cpu and 16 or 256), size("out_channels", cpu and 32 or 256)
local H, W = size("height", cpu and 16 or 64), size("width", cpu and 16 or 64)
local KH, KW = size("kernel_h", 3), size("kernel_w", 3)
local stride, padding, dilation = size("stride", 1), size("padding", 1, 0), size("dilation", 1)
local kind = choice("type", { "f32", "f16" })                                 -- of weights
folder("ggml", { file = "types.glsl", below = { "src/ggml-vulkan/vulkan-shaders", "ggml/src/ggml-vulkan/vulkan-shaders" },
                 what = "a checkout of llama.cpp or ggml, or its vulkan-shaders" })

local function out(size, kernel) return (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1 end
local OH, OW = out(H, KH), out(W, KW)
if OH < 1 or OW < 1 then error("the kernel is larger than the padded image") end
local CRS, NPQ, whole = C * KH * KW, batch * OH * OW, { -4, 4, whole = true }

local steps = { { "conv2d", "X", kind == "f16" and "NUMBERS" or "FILTERS", "Y", batch = batch, in_channels = C, height = H, width = W,
                  out_channels = O, kernel_h = KH, kernel_w = KW, stride = stride, padding = padding, dilation = dilation } }
if kind == "f16" then table.insert(steps, 1, { "dequantize", "FILTERS", "NUMBERS" }) end

operator.define {
  name      = "ggml_conv2d_mm",
  flop      = 2 * O * CRS * NPQ,
  inputs    = { { "FILTERS", O, CRS, type = kind, fill = whole }, { "X", batch, C, H, W, fill = whole } },
  output    = { "Y", batch, O, OH, OW },
  reference = steps,
  tolerance = { nmse = 5e-4, exact = true },
}

param.WG_SIZE     = discrete { 32, 64, 128, 256, 512 }
param.BS_K        = discrete { 16, 32, 64, 128 }
param.BS_CRS      = discrete { 8, 16, 32, 64 }
param.BS_NPQ      = discrete { 16, 32, 64, 128, 256 }
param.TS_K        = discrete { 1, 2, 4, 8, 16 }
param.collectives = categorical(device.subgroup_shuffles and { "no", "yes" } or { "no" }) -- subgroups share the indices that they compute
param.SHMEM_PAD   = discrete { 0, 1, 4, 8 }
param.aligned     = categorical { "no", "yes" }
param.UNROLL      = categorical { "yes", "no" }
local subgroup    = subgroups.choose(function(c) return c.WG_SIZE end)

local function columns(c) return c.BS_K * c.BS_NPQ // (c.WG_SIZE * c.TS_K) end  -- TS_NPQ
local function shared_bytes(c) return 4 * (c.BS_K * (c.BS_CRS + c.SHMEM_PAD) + c.BS_CRS * (c.BS_NPQ + c.SHMEM_PAD)) end

constraint("invocations tile a block", function(c)
  local n = columns(c)
  return n >= 1 and n * c.WG_SIZE * c.TS_K == c.BS_K * c.BS_NPQ and c.BS_K % c.TS_K == 0 and c.BS_NPQ % n == 0
end)
constraint("loads fill a block", function(c)
  local a, b = c.WG_SIZE // c.BS_CRS, c.WG_SIZE // c.BS_NPQ
  return a >= 1 and b >= 1 and c.WG_SIZE % c.BS_CRS == 0 and c.WG_SIZE % c.BS_NPQ == 0 and c.BS_K % a == 0 and c.BS_CRS % b == 0
end)
constraint("a subgroup has the indices", function(c)
  return c.collectives == "no" or c.BS_CRS <= subgroups.size(c) and c.WG_SIZE % subgroups.size(c) == 0
end)
constraint("what is aligned is whole", function(c)
  return c.aligned == "no" or O % c.BS_K == 0 and CRS % c.BS_CRS == 0 and NPQ % c.BS_NPQ == 0
end)
constraint("sums of an invocation", function(c) -- where there is room at all
  return shared_bytes(c) > device.shared_bytes or c.TS_K * columns(c) <= (cpu and 64 or 256)
end)

resources(function(c)
  local blocks = (NPQ + c.BS_NPQ - 1) // c.BS_NPQ
  return {
    invocations  = { c.WG_SIZE },
    shared_bytes = shared_bytes(c),
    accumulators = c.TS_K * columns(c),
    groups       = { (O + c.BS_K - 1) // c.BS_K, math.min(blocks, 512), (blocks + 511) // 512 },
  }
end)

local function constants(c)
  return { { 0, "WG_SIZE", c.WG_SIZE }, { 1, "BS_K", c.BS_K }, { 2, "BS_CRS", c.BS_CRS }, { 3, "BS_NPQ", c.BS_NPQ }, { 4, "TS_K", c.TS_K },
    { 5, "use_collectives", c.collectives == "yes" and 1 or 0 }, { 6, "SHMEM_PAD", c.SHMEM_PAD }, { 7, "s0", stride }, { 8, "s1", stride },
    { 9, "p0", padding }, { 10, "p1", padding }, { 11, "d0", dilation }, { 12, "d1", dilation }, { 13, "KW", KW }, { 14, "KH", KH },
    { 15, "aligned", c.aligned == "yes" and 1 or 0 } }
end

-- How the shader divides by d: the high half of a product, and a shift.
local function divisor(d)
  local shift = 0
  while 1 << shift < d do shift = shift + 1 end
  return (1 << 32) * ((1 << shift) - d) // d + 1, shift
end

kernel {
  shader = "ggml/conv2d_mm.comp", include = { "ggml" }, bindings = { "FILTERS", "X", "Y" }, subgroup = subgroup,
  define = function(c)
    return { A_TYPE = kind == "f16" and "float16_t" or "float", B_TYPE = "float", D_TYPE = "float", USE_COLLECTIVES = true,
             UNROLL = c.UNROLL == "yes" and "[[unroll]]" or "" }
  end,
  spec = function(c) return foreign.spec(constants(c)) end,
  push = function() -- channels, images, their sizes; strides of weights, images and output; how to divide
    local row, row_shift = divisor(OW)
    local image, image_shift = divisor(OW * OH)
    return { O, C, batch, W, H, OW, OH, KW, KW * KH, CRS, W, W * H, W * H * C, OW, OW * OH, OW * OH * O, row, row_shift, image, image_shift }
  end,
}

-- The tuples that ship, by K and NPQ of a block; CRS is 8 where more does not fit the shared memory.
local function block(k, npq, crs, wg, ts, values)
  local c = { WG_SIZE = wg, BS_K = k, BS_CRS = crs, BS_NPQ = npq, TS_K = ts, collectives = "no", SHMEM_PAD = 4, aligned = "no", UNROLL = "yes",
              subgroup_size = subgroup and device.subgroup_size or nil }
  for name, value in pairs(values or {}) do c[name] = value end
  if shared_bytes(c) > device.shared_bytes then c.BS_CRS = 8 end
  if O % k == 0 and CRS % c.BS_CRS == 0 and NPQ % npq == 0 then c.aligned = "yes" end
  return c
end
local intel = { SHMEM_PAD = 0, UNROLL = "no" }
baseline {
  K128_NPQ128 = block(128, 128, 16, 256, 8), K64_NPQ32 = block(64, 32, 32, 128, 4), K32_NPQ256 = block(32, 256, 16, 256, 8),
  K64_NPQ128 = block(64, 128, 16, 256, 8), intel_K64_NPQ32 = not cpu and block(64, 32, 32, 128, 4, intel) or nil,
  intel_K32_NPQ256 = not cpu and block(32, 256, 16, 256, 8, intel) or nil,
}

export("constants", function(c)
  return foreign.header("conv2d_mm", ("%d images of %d x %d x %d, %d filters of %d x %d, stride %d, padding %d; unrolled: %s"):format(
    batch, C, H, W, O, KH, KW, stride, padding, c.UNROLL), constants(c))
end)
