-- presets/foreign/ggml-rms-norm.lua: ggml's rows by the root of their mean square (rms_norm.comp of its Vulkan backend), with the workgroup
-- that it ships, which the file defines: BLOCK_SIZE
local foreign = include "foreign.lua"

local rows, columns = size("rows", device.is_cpu and 32 or 512), size("columns", device.is_cpu and 256 or 4096)
local multiply = choice("multiply", { "yes", "no" })                          -- by a weight for each column, which ggml fuses
folder("ggml", { file = "types.glsl", below = { "src/ggml-vulkan/vulkan-shaders", "ggml/src/ggml-vulkan/vulkan-shaders" },
                 what = "a checkout of llama.cpp or ggml, or its vulkan-shaders" })

local eps, has_weights = 1e-6, multiply == "yes"                              -- far below the squares here
-- The mean square v of a row, then v / (v^2)^0.75, which is v^-0.5, then the product.
local steps = {
  { "batch_matmul", "X", "X", "MEANS", batch = rows, N = 1, M = 1, K = columns, layout = "nt", scale = 1 / columns },
  { "lrn", "MEANS", "SCALE", batch = rows, channels = 1, height = 1, width = 1, window = 1, alpha = 1, beta = 0.75, bias_k = 1e-12 },
  { "strided", "SCALE", "SCALES", count = rows, n3 = rows, n4 = columns, s3 = 1, s4 = 0 },
  { "elementwise", "X", "SCALES", has_weights and "NORMED" or "Y", count = rows * columns, apply = "mul" },
}
if has_weights then
  table.insert(steps, { "strided", "WEIGHTS", "ALL", count = columns, n3 = rows, n4 = columns })
  table.insert(steps, { "elementwise", "NORMED", "ALL", "Y", count = rows * columns, apply = "mul" })
end

operator.define {
  name      = "ggml_rms_norm",
  bytes     = 8 * rows * columns + (has_weights and 4 * columns or 0),
  inputs    = { { "X", rows, columns }, has_weights and { "WEIGHTS", columns } or nil },
  output    = { "Y", rows, columns },
  reference = steps,
  tolerance = { absolute = 1e-6, relative = 1e-4 },
}

param.BLOCK_SIZE = discrete { 8, 16, 32, 64, 128, 256, 512, 1024 }

resources(function(c) return { invocations = { c.BLOCK_SIZE }, shared_bytes = 4 * c.BLOCK_SIZE, groups = { rows } } end)

kernel {
  shader = "ggml/rms_norm.comp", include = { "ggml" }, bindings = { "X", has_weights and "WEIGHTS" or "X", "Y" },
  define = function(c) return { A_TYPE = "float", B_TYPE = "float", D_TYPE = "float", FLOAT_TYPE = "float", BLOCK_SIZE = c.BLOCK_SIZE } end,
  spec = function() return { [0] = false, [1] = has_weights } end,
  push = function() -- elements; sizes and strides of X, of the weights, of Y; offsets, eps
    local x = { columns, rows, 1, 1, 1, columns, rows * columns, rows * columns }
    local weights = has_weights and { columns, 1, 1, 1, 1, columns, columns, columns } or x
    local push = { rows * columns }
    for _, of in ipairs { x, weights, x } do
      for _, value in ipairs(of) do table.insert(push, value) end
    end
    for _, value in ipairs { 0, eps, 0.0, 0 } do table.insert(push, value) end
    return push
  end,
}

baseline { shipped = { BLOCK_SIZE = 512 } }

export("constants", function(c)
  return ("/* rms_norm: %d rows of %d, weights: %s */\n#define BLOCK_SIZE %d"):format(rows, columns, multiply, c.BLOCK_SIZE)
end)
