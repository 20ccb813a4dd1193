-- Texts of GLSL that templates are written with: types, sums and products, components. All functions are pure.
--
-- An element is one of `elements` or "word": 4 bytes of any of them that are moved only. GLSL does not have bf16 and f8
-- everywhere, so whole numbers hold their bits; `converted` makes floats of them, for which a template writes
-- glsl.decoder(op.type) behind its extensions. A kernel that adds up products knows three elements by its operator:
--
--     op.type              what the inputs hold
--     glsl.sums(op)        what is summed in: f32, f16 or i32
--     glsl.products(op)    what is multiplied, and few products are summed, in: the same, or f16
--     glsl.output(op)      what the output holds
--
-- A template gets the module as a value: `values = function(c) return { glsl = glsl, ... } end`.

local glsl = {}

-- The types that products multiply.
glsl.types = { "f32", "f16", "i8", "bf16", "u8", "f8e4m3", "f8e5m2" }

local word = { scalar = "uint", vector = "uvec", bytes = 4 }

local function traits(element) return element == "word" and word or elements[element] end

function glsl.is_whole(element) return not traits(element).is_real end

-- The type of n neighbours; of eight, which are f16, that of the four words that they are moved as.
function glsl.vector(element, n)
  if n == 8 then return glsl.vector("word", 4) end
  return n == 1 and traits(element).scalar or traits(element).vector .. n
end

function glsl.bytes(element) return traits(element).bytes end

function glsl.sums(op)
  if glsl.is_whole(op.type) then return "i32" end
  return op.accumulate == "mixed" and "f32" or op.accumulate
end

function glsl.products(op) return op.accumulate == "mixed" and "f16" or glsl.sums(op) end

function glsl.output(op)
  if not op.kind then return op.output end -- of a part of an operation
  if op.kind == "copy" then return op.to == "same" and op.type or op.to end
  if op.kind == "matmul" and op.blocks ~= "none" then return "f32" end
  return glsl.is_whole(op.type) and "i32" or traits(op.type).is_bits and "f32" or op.type
end

-- The element that holds any sum without loss: what parts of sums are kept in, what epilogues compute in.
function glsl.wide(element) return glsl.is_whole(element) and "i32" or "f32" end

-- The text of n neighbours as another element.
function glsl.converted(text, from, to, n)
  if from == to then return text end
  if traits(to).is_bits then -- of a float; the text is repeated
    local bits = {}
    for i = 0, n - 1 do bits[#bits + 1] = "bits_of_" .. to .. "(" .. glsl.components(text, n, i, 1) .. ")" end
    return glsl.vector(to, n) .. "(" .. table.concat(bits, ", ") .. ")"
  end
  if traits(from).is_bits then return "float_of_" .. from .. "(" .. glsl.vector("word", n) .. "(" .. text .. "))" end
  return glsl.vector(to, n) .. "(" .. text .. ")"
end

-- The functions that make floats of bits; "" for other elements.
function glsl.decoder(element) return traits(element).decoder end

-- The function bits_of_ELEMENT, which makes bits of a float; "" for other elements.
function glsl.encoder(element) return traits(element).encoder end

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
  elseif element == "bf16" then
    return { "GL_EXT_shader_16bit_storage", "GL_EXT_shader_explicit_arithmetic_types_int16" }
  elseif glsl.bytes(element) == 1 then
    return { "GL_EXT_shader_8bit_storage", "GL_EXT_shader_explicit_arithmetic_types_int8" }
  end
  return {}
end

-- A number of the operator as a literal of the element.
function glsl.literal(element, number)
  if glsl.wide(element) == "i32" then return string.format("%d", math.tointeger(number)) end
  return tostring(number + 0.0)
end

-- What a kernel that calls dot_of_bytes(x, y, 0) writes behind its extensions, of which glsl.dot_extensions has one: the sum
-- of the products of four signed bytes. It is OpSDot of packed bytes (format 0), by its number, as few compilers know
-- GL_EXT_integer_dot_product; where the device has no such instruction it is spelled out.
function glsl.dot_extensions() return device.dot and { "GL_EXT_spirv_intrinsics" } or {} end

function glsl.dot_of_bytes()
  if device.dot then
    return [[
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6019, 6018], id = 4450)
int dot_of_bytes(uint x, uint y, spirv_literal int format);]]
  end
  return [[
ivec4 bytes_of(uint x) { return ivec4(uvec4(x) << uvec4(24, 16, 8, 0)) >> 24; }
int dot_of_bytes(uint x, uint y, int format)
{
    const ivec4 products = bytes_of(x) * bytes_of(y);
    return products.x + products.y + products.z + products.w;
}]]
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
