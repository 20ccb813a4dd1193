-- Texts of GLSL that templates are written with: types, sums and products, components. All functions are pure.
--
-- An element is "f32", "f16", "i8" or "i32"; a "word" is 4 bytes of any of them that are moved only. A kernel that adds up products knows three of them by its operator:
--
--     op.type              what the inputs hold
--     glsl.sums(op)        what is summed in: f32, f16 or i32
--     glsl.products(op)    what is multiplied, and few products are summed, in: the same, or f16
--     glsl.output(op)      what the output holds
--
-- A template gets the module as a value: `values = function(c) return { glsl = glsl, ... } end`.

local glsl = {}

local scalars = { f32 = "float", f16 = "float16_t", i8 = "int8_t", i32 = "int", word = "uint" }
local vectors = { f32 = "vec", f16 = "f16vec", i8 = "i8vec", i32 = "ivec", word = "uvec" }
local bytes = { f32 = 4, f16 = 2, i8 = 1, i32 = 4, word = 4 }

-- The type of n neighbours; of eight, which are f16, that of the four words that they are moved as.
function glsl.vector(element, n)
  if n == 8 then return vectors.word .. 4 end
  return n == 1 and scalars[element] or vectors[element] .. n
end

function glsl.bytes(element) return bytes[element] end

function glsl.sums(op)
  if op.type == "i8" then return "i32" end
  return op.accumulate == "mixed" and "f32" or op.accumulate
end

function glsl.products(op) return op.accumulate == "mixed" and "f16" or glsl.sums(op) end

function glsl.output(op) return op.type == "i8" and "i32" or op.type end

-- The element that holds any sum without loss: what parts of sums are kept in, what epilogues compute in.
function glsl.wide(element) return (element == "i8" or element == "i32") and "i32" or "f32" end

-- The text of n neighbours as another element.
function glsl.converted(text, from, to, n)
  return from == to and text or glsl.vector(to, n) .. "(" .. text .. ")"
end

-- The text of n neighbours where the condition holds, zeros elsewhere: selected, because branches in nested loops may
-- take compilers a time that doubles with each. What is read must be there either way.
function glsl.guarded(condition, value, element, n)
  local zeros = glsl.vector(element, n) .. "(0)"
  return "mix(" .. zeros .. ", " .. value .. ", " .. (n > 1 and "bvec" .. math.min(n, 4) or "") .. "(" .. condition .. "))"
end

-- The extensions that inputs of an element need; sums and outputs need no others.
function glsl.extensions(element)
  if element == "f16" then
    return { "GL_EXT_shader_16bit_storage", "GL_EXT_shader_explicit_arithmetic_types_float16" }
  elseif element == "i8" then
    return { "GL_EXT_shader_8bit_storage", "GL_EXT_shader_explicit_arithmetic_types_int8" }
  end
  return {}
end

-- A number of the operator as a literal of the element.
function glsl.literal(element, number)
  if glsl.wide(element) == "i32" then return string.format("%d", math.tointeger(number)) end
  return tostring(number + 0.0)
end

-- Sums and products of texts and whole numbers, without the terms and factors that change nothing. --------------------

function glsl.sum(...)
  local text, constant = nil, 0
  for _, term in ipairs { ... } do
    if type(term) == "number" then
      constant = constant + term
    elseif term ~= "0" then
      text = text and text .. " + " .. term or term
    end
  end
  if not text then return string.format("%d", constant) end
  return constant == 0 and text or text .. " + " .. constant
end

-- In brackets, unless it is one word (a call counts as one only if it has one argument).
function glsl.bracketed(text)
  for n = 1, #text do
    if string.sub(text, n, n) == " " then return "(" .. text .. ")" end
  end
  return text
end

function glsl.times(text, n)
  if n == 0 then return "0" end
  return (text == "0" or n == 1) and text or glsl.bracketed(text) .. " * " .. n
end

function glsl.over(text, n) return (text == "0" or n == 1) and text or glsl.bracketed(text) .. " / " .. n end

function glsl.modulo(text, n)
  if n == 1 then return "0" end
  return text == "0" and text or glsl.bracketed(text) .. " % " .. n
end

-- The smaller of the text and the last number below n.
function glsl.below(text, n) return "min(" .. text .. ", " .. n - 1 .. ")" end

-- The same of eight f16 in four words.
local function of_eight(vector, first, n)
  local function pair(at) return "unpackFloat2x16(" .. vector .. "." .. string.sub("xyzw", at + 1, at + 1) .. ")" end
  local at = first // 2
  if n == 1 then return pair(at) .. (first % 2 == 0 and ".x" or ".y") end
  return n == 2 and pair(at) or "f16vec4(" .. pair(at) .. ", " .. pair(at + 1) .. ")"
end

-- The components first .. first + n - 1 of a vector of `width`: 1, 2 or 4 of them, of eight at a multiple of n.
function glsl.components(vector, width, first, n)
  if width == 8 then return of_eight(vector, first, n) end
  return width == n and vector or vector .. "." .. string.sub("xyzw", first + 1, first + n)
end

return glsl
