-- What is done with a sum before it is stored: y = activation(scale * sum + bias + residual), for n neighbours at once.
--
--     local e = epilogue.of(op, { sums = "f32", n = 4, along_bias = true })
--     e.text                                     GLSL: the buffers and a function; "" where there is nothing to do
--     e.call(sum, bias_at, residual_at)          text of the finished output for the text of a sum
--     epilogue.of_numbers(op)                    the same of one number, in what it is computed in; call(sum, bias, residual)
--                                                takes texts of numbers, of those that there are: their names are `added`
--     epilogue.declare { N = N, ... }            the fields of an operator, and its bias, residual, activation, numbers
--
-- It is computed in floats (whole numbers for i8) and stored as the operator's output. `sums` is the element of the sum
-- that is given, `along_bias` whether the n neighbours have one bias each (else all have the same). `bias_at` and
-- `residual_at` are indices in units of what is read at once: of n (bias: 1 where it is the same for all) elements.

local glsl = include "glsl.lua"

local epilogue = {}

local function activated(op, wide, n)
  local vector = glsl.vector(wide, n)
  local function all(number) return vector .. "(" .. glsl.literal(wide, number) .. ")" end
  if op.activation == "relu" then return "max(y, " .. all(0) .. ")" end
  if op.activation == "clamp" then return "clamp(y, " .. all(op.low) .. ", " .. all(op.high) .. ")" end
  if op.activation == "leaky" then
    local below = n == 1 and "y < 0.0" or "lessThan(y, " .. all(0) .. ")"
    return "mix(y, y * " .. glsl.literal(wide, op.slope) .. ", " .. below .. ")"
  end
  return "y"
end

local function buffer(op, name, element, n)
  return string.format("layout(std430, set = 0, binding = %d) restrict readonly buffer %s { %s %s[]; };\n",
    op.bindings[name], name == "bias" and "Bias" or "Residual", glsl.vector(element, n), name)
end

-- Adds what --set chooses of it to an operator's fields.
function epilogue.declare(fields)
  fields.bias, fields.residual = choice("bias", { "none", "add" }), choice("residual", { "none", "add" })
  fields.activation = choice("activation", { "none", "relu", "leaky", "clamp" })
  fields.scale, fields.slope = number("scale", 1), number("slope", 0.01)
  fields.low, fields.high = number("low", 0), number("high", 6)
  return fields
end

function epilogue.is_needed(op)
  return op.bias == "add" or op.residual == "add" or op.activation ~= "none" or op.scale ~= 1
end

-- The function, of what it takes besides the sum and adds to it.
local function function_of(op, output, wide, n, parameters, terms)
  table.insert(parameters, 1, glsl.vector(wide, n) .. " sum")
  table.insert(terms, 1, op.scale == 1 and "sum" or "sum * " .. glsl.literal(wide, op.scale))
  return string.format("%s finished(%s)\n{\n    const %s y = %s;\n    return %s;\n}", glsl.vector(output, n),
    table.concat(parameters, ", "), glsl.vector(wide, n), table.concat(terms, " + "),
    glsl.converted(activated(op, wide, n), wide, output, n))
end

local function text_of(op, output, wide, n, bias_n)
  local buffers, parameters, terms = "", {}, {}
  if op.bias == "add" then
    buffers = buffers .. buffer(op, "bias", output, bias_n)
    parameters[#parameters + 1] = "uint bias_at"
    terms[#terms + 1] = glsl.converted("bias[bias_at]", output, wide, bias_n)
  end
  if op.residual == "add" then
    buffers = buffers .. buffer(op, "residual", output, n)
    parameters[#parameters + 1] = "uint residual_at"
    terms[#terms + 1] = glsl.converted("residual[residual_at]", output, wide, n)
  end
  return buffers .. "\n" .. function_of(op, output, wide, n, parameters, terms)
end

function epilogue.of_numbers(op)
  local output = glsl.output(op)
  local wide, added, buffers, parameters = glsl.wide(output), {}, "", {}
  for _, name in ipairs { "bias", "residual" } do
    if op[name] == "add" then
      added[#added + 1], parameters[#parameters + 1] = name, glsl.vector(wide, 1) .. " " .. name
      buffers = buffers .. buffer(op, name, output, 1)
    end
  end
  return {
    added = added, text = buffers .. "\n" .. function_of(op, wide, wide, 1, parameters, { table.unpack(added) }),
    call = function(...) return "finished(" .. table.concat({ ... }, ", ") .. ")" end,
  }
end

function epilogue.of(op, o)
  local output = glsl.output(op)
  local wide = glsl.wide(output)
  if not epilogue.is_needed(op) then
    return { text = "", call = function(sum) return glsl.converted(sum, o.sums, output, o.n) end }
  end
  local function call(sum, bias_at, residual_at)
    local arguments = glsl.converted(sum, o.sums, wide, o.n)
    if op.bias == "add" then arguments = arguments .. ", " .. bias_at end
    if op.residual == "add" then arguments = arguments .. ", " .. residual_at end
    return "finished(" .. arguments .. ")"
  end
  return { text = text_of(op, output, wide, o.n, o.along_bias and o.n or 1), call = call }
end

return epilogue
