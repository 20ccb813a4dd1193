-- presets/foreign/ggml-soft-max.lua: ggml's softmax (soft_max.comp of its Vulkan backend) as it is, with the workgroups that it ships:
-- rows of attention scores, and the mask that is added to those of every head
local foreign = include "foreign.lua"

local heads, rows, columns = size("heads", device.is_cpu and 4 or 32), size("rows", device.is_cpu and 16 or 512), size("columns", device.is_cpu and 256 or 4096)
local kind = choice("mask", { "f32", "f16", "none" })
folder("ggml", { file = "types.glsl", below = { "src/ggml-vulkan/vulkan-shaders", "ggml/src/ggml-vulkan/vulkan-shaders" },
                 what = "a checkout of llama.cpp or ggml, or its vulkan-shaders" })

local all, has_mask = heads * rows, kind ~= "none"
local steps = { { "softmax", has_mask and "S" or "X", "Y", rows = all, columns = columns } }
if has_mask then
  table.insert(steps, 1, { "elementwise", "X", "MASKS", "S", count = all * columns, apply = "add" })
  table.insert(steps, 1, { "strided", kind == "f16" and "NUMBERS" or "MASK", "MASKS", count = rows * columns, n3 = heads, n4 = rows * columns })
  if kind == "f16" then table.insert(steps, 1, { "dequantize", "MASK", "NUMBERS" }) end
end

operator.define {
  name      = "ggml_soft_max",
  bytes     = 8 * all * columns + (has_mask and (kind == "f16" and 2 or 4) * rows * columns or 0),
  inputs    = { { "X", heads, rows, columns, fill = { -4, 4 } }, has_mask and { "MASK", rows, columns, type = kind, fill = { -4, 4, whole = true } } or nil },
  output    = { "Y", heads, rows, columns },
  reference = steps,
  tolerance = { absolute = 1e-6, relative = 1e-4 },
}

param.BLOCK_SIZE = discrete { 8, 16, 32, 64, 128, 256, 512, 1024 }

resources(function(c) return {
  invocations  = { c.BLOCK_SIZE },
  shared_bytes = 4 * c.BLOCK_SIZE,
  groups       = { math.min(all, 512), math.min((all + 511) // 512, 512), (all + 512 * 512 - 1) // (512 * 512) },
} end)

kernel {
  shader = "ggml/soft_max.comp", include = { "ggml" }, bindings = { "X", has_mask and "MASK" or "X", "X", "Y" }, -- the third: sinks, none here
  define = function() return { A_TYPE = "float", B_TYPE = kind == "f16" and "float16_t" or "float", D_TYPE = "float", FLOAT_TYPE = "float" } end,
  spec = function(c) return { [0] = c.BLOCK_SIZE } end,
  push = function() -- columns, whether there is a mask; sizes of X; those and strides of the mask; scale, ALiBi; rows, sinks
    return { columns, has_mask and rows or 0, columns, rows, heads, 1, 1, columns, 0, 0, 1.0, 0.0, 1.0, 1.0, 0, all, 0 }
  end,
}

-- The latter is used above 1024 columns. CPU devices compile it for half a minute.
baseline { subgroup = { BLOCK_SIZE = device.subgroup_size }, wg512 = (columns > 1024 or not device.is_cpu) and { BLOCK_SIZE = 512 } or nil }

export("constants", function(c)
  return foreign.header("soft_max", ("%d x %d rows of %d, mask %s"):format(heads, rows, columns, kind), { { 0, "BLOCK_SIZE", c.BLOCK_SIZE } })
end)
