-- Layers of network files, each a row of a paper's table:
--
--     local layers = include "layers.lua"
--     x = layers.convolution { "conv1", x, channels = 64, kernel = 11, stride = 4, bias = true, activation = "relu" }
--
-- A layer takes its name and its input and returns its output; sizes follow from the input. Images are nchw. Batch
-- normalisation at inference is a factor and an addition for each channel: it is folded into weights and bias.

local layers = {}

-- The presets of these names run products on the device's matrix units where it has them; the choice is theirs (units.lua).
local units = choice("units", { "auto", "khr", "nv", "emulated", "none" })
local on_units = {}
for _, preset in ipairs { "gemm", "bmm", "skinny", "conv1x1", "conv-implicit", "conv-winograd", "flash-attention" } do
  on_units[preset] = true
end

-- The choice `type` of a network; returns the type of its values. Products of bf16 and f8 give f32: all values are f32 then, and what
-- products multiply is rounded before. Those of whole numbers have an output that no layer converts.
local chosen, multiplied -- multiplied: bf16 or f8, where it is chosen

function layers.type(standard)
  chosen = choice("type", { "f32", "f16", "bf16", "f8e4m3", "f8e5m2" }, standard or "f32",
    "products of i8 and u8 give i32, and no layer converts these for the next one")
  multiplied = chosen ~= "f32" and chosen ~= "f16" and chosen or nil
  return multiplied and "f32" or chosen
end

-- What `output` takes of an output that a model gave elsewhere, in a type of its own, whose largest number is `largest`. 1e-3 and
-- 1e-7 are what ONNX allows its backends, the others 32 times what rounding to the type may change. Outputs are not compared in f8.
local near = { f32 = 1e-3, f16 = 2^-6, bf16 = 2^-4 }

function layers.recorded(file, type, largest)
  if not near[chosen] then return nil end
  local relative = math.max(near[chosen], near[type])
  return { file = file, relative = relative, absolute = math.max(1e-7, relative > near.f32 and relative * largest or 0) }
end

-- A value as products take it, rounded once for all of them.
local rounded = {}

local function factor(x)
  if not multiplied or x.type ~= "f32" then return x end
  if not rounded[x.name] then
    rounded[x.name] = layer { name = x.name .. "_" .. multiplied, preset = "copy", from = x,
                              set = { rows = 1, columns = x.count, type = "f32", to = multiplied } }
  end
  return rounded[x.name]
end

-- What `layer` takes, of a layer that multiplies what flows in, all but a residual.
function layers.product(t)
  for tensor, x in pairs(t.from) do
    if tensor ~= "residual" then
      t.from[tensor] = factor(x)
      t.set.type = t.from[tensor].type
    end
  end
  if on_units[t.preset] then t.set.units = units end
  return layer(t)
end

-- Fields of a layer beside its name and inputs: those it needs, and those that it has a standard for.
local function read(what, t, inputs, needed, standard)
  if type(t) ~= "table" then error(what .. ' { "name", x, ... }: expected a table') end
  local name = t[1]
  if type(name) ~= "string" then error(what .. ": the first is its name, a string") end
  what = what .. " '" .. name .. "'"
  for i = 2, 1 + inputs do
    if type(t[i]) ~= "table" then
      error(what .. ": expected " .. inputs .. " input" .. (inputs > 1 and "s" or "")
        .. " after its name, what other layers or input returned (a value can be used only after the line that makes it)")
    end
  end
  local known = {}
  for i = 1, 1 + inputs do known[i] = true end
  for _, field in ipairs(needed) do
    known[field] = true
    if t[field] == nil then error(what .. ": " .. field .. " is missing") end
  end
  local read = {}
  for field, value in pairs(standard) do read[field], known[field] = value, true end
  for field, value in pairs(t) do
    if not known[field] then error(what .. " has no field '" .. field .. "'") end
    read[field] = value
  end
  return read, what
end

local function image(what, x)
  if #x.sizes ~= 4 then error(what .. ": '" .. x.name .. "' is no image (batch, channels, height, width)") end
  return x.sizes[1], x.sizes[2], x.sizes[3], x.sizes[4]
end

-- With what is done to a sum before it is stored. Weights and bias may say which file holds them.
local function summed(t, preset, first, second, set)
  set.activation = t.activation
  set.bias = t.bias and "add" or "none"
  set.residual = t.residual and "add" or "none"
  return layers.product { name = t[1], preset = t.preset or preset, set = set, from = { [first] = t[2], residual = t.residual or nil },
    weights = { [second] = t.weights or nil, bias = t.bias and t.bias ~= true and t.bias or nil } }
end

local window = { stride = 1, padding = 0 }
local sum = { weights = false, bias = false, activation = "none", residual = false, preset = false }

local function with(...)
  local all = {}
  for _, fields in ipairs { ... } do
    for name, value in pairs(fields) do all[name] = value end
  end
  return all
end

function layers.convolution(t)
  local t, what = read("convolution", t, 1, { "channels", "kernel" }, with(window, sum))
  local batch, channels, height, width = image(what, t[2])
  return summed(t, t.kernel == 1 and "conv1x1" or "conv-implicit", "X", "W", {
    batch = batch, in_channels = channels, height = height, width = width, out_channels = t.channels,
    kernel_h = t.kernel, kernel_w = t.kernel, stride = t.stride, padding = t.padding,
  })
end

-- Each channel by itself.
function layers.depthwise(t)
  local t, what = read("depthwise", t, 1, { "kernel" }, with(window, sum))
  local batch, channels, height, width = image(what, t[2])
  return summed(t, "depthwise", "X", "W", {
    batch = batch, channels = channels, height = height, width = width,
    kernel_h = t.kernel, kernel_w = t.kernel, stride = t.stride, padding = t.padding,
  })
end

-- So many outputs for each row: of an image, or of the first size of whatever it is given (flattening is no kernel).
function layers.dense(t)
  local t, what = read("dense", t, 1, { "outputs" }, with(sum, { rows = false }))
  local rows = t.rows or t[2].sizes[1]
  if t[2].count % rows ~= 0 then error(what .. ": '" .. t[2].name .. "' has not " .. rows .. " equal rows") end
  return summed(t, "gemm", "A", "B",
    { N = rows, M = t.outputs, K = t[2].count // rows, layout = "nt" }) -- weights: a row for each output
end

local function pool(name, more)
  return function(t)
    local t, what = read(name, t, 1, { "window" }, with(window, more))
    local batch, channels, height, width = image(what, t[2])
    return layer { name = t[1], preset = name, from = t[2], set = {
      batch = batch, channels = channels, height = height, width = width, type = t[2].type,
      window = t.window, stride = t.stride, padding = t.padding, divisor = t.divisor,
    } }
  end
end

layers.maxpool = pool("maxpool", {})
layers.avgpool = pool("avgpool", { divisor = "inside" })

local function apply(name, inputs)
  return function(t)
    local t = read(name, t, inputs, {}, {})
    return layer { name = t[1], preset = "elementwise", from = { X = t[2], Z = t[3] },
                   set = { count = t[2].count, apply = name, type = t[2].type } }
  end
end

for _, name in ipairs { "relu", "sigmoid", "tanh", "gelu", "silu", "mish", "hardswish", "softplus", "exp", "sqrt" } do
  layers[name] = apply(name, 1)
end
for _, name in ipairs { "add", "sub", "mul", "div", "max", "min" } do layers[name] = apply(name, 2) end

-- Over each row, of the last size.
function layers.softmax(t)
  local t = read("softmax", t, 1, {}, {})
  local columns = t[2].sizes[#t[2].sizes]
  return layer { name = t[1], preset = "softmax", from = t[2],
                 set = { rows = t[2].count // columns, columns = columns, type = t[2].type } }
end

-- Rows less their mean, by their deviation, times gamma and with beta for each column.
function layers.layer_norm(t)
  local t = read("layer_norm", t, 1, {}, { epsilon = 1e-5, gamma = false, beta = false })
  local columns = t[2].sizes[#t[2].sizes]
  return layer { name = t[1], preset = "layer-norm", from = { X = t[2] }, weights = { gamma = t.gamma or nil, beta = t.beta or nil },
                 set = { M = t[2].count // columns, N = columns, epsilon = t.epsilon, type = t[2].type } }
end

function layers.lrn(t)
  local t, what = read("lrn", t, 1, {}, { window = 5, alpha = 1e-4, beta = 0.75, bias_k = 2 })
  local batch, channels, height, width = image(what, t[2])
  return layer { name = t[1], preset = "lrn", from = t[2], set = {
    batch = batch, channels = channels, height = height, width = width, type = t[2].type,
    window = t.window, alpha = t.alpha, beta = t.beta, bias_k = t.bias_k,
  } }
end

-- Queries, keys and values of `heads` heads side by side, a row for each token, in one kernel. Keys and values may have fewer
-- heads; under a causal mask a token sees those before it.
function layers.attention(t)
  local t, what = read("attention", t, 3, { "heads" }, { causal = false })
  local queries, keys = t[2], t[3]
  if #queries.sizes ~= 2 or #keys.sizes ~= 2 then error(what .. ": queries and keys are matrices, a row for each token") end
  local dim = queries.sizes[2] // t.heads
  if dim * t.heads ~= queries.sizes[2] or keys.sizes[2] % dim ~= 0 then error(what .. ": the heads do not divide the rows") end
  local attend = multiplied and multiplied ~= "bf16" and layer or layers.product -- weights of f8 have too few bits
  return attend { name = t[1], preset = "flash-attention", from = { Q = queries, K = keys, V = t[4] }, set = {
    heads = t.heads, kv_heads = keys.sizes[2] // dim, N = queries.sizes[1], M = keys.sizes[1], dim = dim,
    type = queries.type, layout = "bnhd", mask = t.causal and "causal" or "none",
  } }
end

return layers
