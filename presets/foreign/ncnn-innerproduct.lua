-- presets/foreign/ncnn-innerproduct.lua: ncnn's fully connected layer on several rows (innerproduct_gemm.comp of its Vulkan layers) as it
-- is, with the workgroup that it ships: Y = X W^T, X of `rows` rows of `inputs`, W of `outputs` rows
local foreign = include "foreign.lua"

local cpu = device.is_cpu
local rows, inputs, outputs = size("rows", cpu and 16 or 128), size("inputs", cpu and 128 or 1024), size("outputs", cpu and 64 or 1024)
folder("ncnn", { file = "innerproduct_gemm.comp", below = { "src/layer/vulkan/shader" },
                 what = "a checkout of ncnn, or its src/layer/vulkan/shader" })

local whole = { -4, 4, whole = true }
operator.define {
  name      = "ncnn_innerproduct",
  flop      = 2 * rows * inputs * outputs,
  inputs    = { { "X", rows, inputs, fill = whole }, { "W", outputs, inputs, fill = whole } },
  output    = { "Y", rows, outputs },
  reference = { { "matmul", "X", "W", "Y", N = rows, M = outputs, K = inputs, layout = "nt" } },
  tolerance = { nmse = 5e-4, exact = true },
}

-- An invocation computes an element.
param.x     = discrete { 1, 2, 4, 8, 16, 32, 64, 128, 256 }
param.y     = discrete { 1, 2, 4, 8, 16, 32, 64 }
param.sizes = categorical { "pushed", "constant" }

resources(function(c) return { invocations = { c.x, c.y }, groups = { (outputs + c.x - 1) // c.x, (rows + c.y - 1) // c.y } } end)

local sizes = { 2, inputs, rows, 1, inputs * rows, 2, outputs, rows, 1, outputs * rows }
local names = { "dims", "w", "h", "c", "cstep", "outdims", "outw", "outh", "outc", "outcstep" }
local function constants(c)
  local all = { { 0, "bias_term", 0 }, { 1, "activation_type", 0 }, { 233, "local_size_x", c.x }, { 234, "local_size_y", c.y }, { 235, "local_size_z", 1 } }
  for i, v in ipairs(sizes) do table.insert(all, { 3 + i, names[i], c.sizes == "constant" and v or 0 }) end
  return all
end

kernel {
  shader   = "ncnn/innerproduct_gemm.comp", include = { "ncnn" }, preamble = foreign.ncnn_local_size,
  bindings = { "X", "Y", "W", "W" },                                          -- the last: biases, none here
  define   = function() return foreign.ncnn(false) end,
  spec     = function(c) return foreign.spec(constants(c)) end,
  push     = function() return sizes end,
}

local function up_to(size, most)
  local n = 1
  while 2 * n <= size and 2 * n <= most do n = 2 * n end
  return n
end
baseline { shipped = { x = up_to(outputs, 16), y = up_to(rows, 4), sizes = "pushed" } }

export("constants", function(c)
  return foreign.header("innerproduct_gemm", ("%d rows of %d, %d outputs"):format(rows, inputs, outputs), constants(c))
end)
