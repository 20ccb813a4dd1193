-- Weights in blocks, as quantised models have them (src/space/block.h): GLSL that reads them as floats.
--
--     blocks.formats.q4_0                    { weights = 32, bytes = 18 } of a block
--     blocks.reader(format, name, n)         functions: weights_NAME(at) is vector `at` of n weights (1, 2 or 4) of the buffer
--                                            matrix_NAME of uint16_t
--     blocks.packed_reader(format, name)     the same as whole numbers: bytes_NAME(at) is word `at` of four signed bytes,
--                                            scale_NAME(weight) what makes a weight of one: scale.x * byte - scale.y
--     blocks.words(name, n, value)           a function words_NAME(at): vector `at` of n words, of which value(i) is one
--     blocks.runs(format)                    how many runs with a scale of their own 32 weights are
--     blocks.has_minimum(format)             whether scale.y is not always 0
--
-- Vectors lie within a block, and their bytes in one or two words of 16 bits. Where a byte of n weights' lower or upper halves
-- lies is that of the first one.

local glsl = include "glsl.lua"

local blocks = {}

blocks.formats = {
  q4_0 = { weights = 32, bytes = 18 }, q8_0 = { weights = 32, bytes = 34 }, q4_K = { weights = 256, bytes = 144 },
  q6_K = { weights = 256, bytes = 210 },
}
blocks.names = { "none", "q4_0", "q8_0", "q4_K", "q6_K" }

-- The format of an operator's A; nil: it has none.
function blocks.of(op) return op.kind == "matmul" and blocks.formats[op.blocks] and op.blocks or nil end

function blocks.runs(format) return format == "q6_K" and 2 or 1 end

function blocks.has_minimum(format) return format == "q4_K" end

-- Bytes `at`, `at` + 1, ... of a block as the components of a vector.
local read = {
  [1] = "uint(matrix_$[base + at / 2]) >> at % 2 * 8 & 255u",
  [2] = "(uvec2(uint(matrix_$[base + at / 2])) >> uvec2(0u, 8u)) & 255u",
  [4] = "(uvec2(uint(matrix_$[base + at / 2]), uint(matrix_$[base + at / 2 + 1])).xxyy >> uvec4(0u, 8u, 0u, 8u)) & 255u",
}

-- The statements that find the scale and the minimum of the weight `weight` in the block that begins at `base`.
local scales = {
  q4_0 = "return vec2(half_$(base), 0.0);",
  q8_0 = "return vec2(half_$(base), 0.0);",
  q4_K = [[
    const uint run = weight / 32u;
    const uint here = byte_$(base, 4u + run), behind = byte_$(base, 8u + run), before = byte_$(base, 4u + run % 4u);
    const uint scale = run < 4u ? here & 63u : behind & 15u | before >> 6u << 4u;
    const uint minimum = run < 4u ? behind & 63u : behind >> 4u | here >> 6u << 4u;
    return vec2(half_$(base) * float(scale), half_$(base + 1u) * float(minimum));]],
  q6_K = [[
    const int scale = int(byte_$(base, 192u + weight / 16u) << 24u) >> 24;
    return vec2(half_$(base + 104u) * float(scale), 0.0);]],
}

-- The same for the numbers from `weight` on, of type @, less what is 0 of them.
local decoded = {
  q4_0 = "return @((bytes_of_$(base, 2u + weight % 16u) >> weight / 16u * 4u) & 15u) - 8.0;",
  q8_0 = "return @(~(bytes_of_$(base, 2u + weight) << 24u) >> 24);",
  q4_K = "return @((bytes_of_$(base, 16u + weight / 64u * 32u + weight % 32u) >> weight / 32u % 2u * 4u) & 15u);",
  q6_K = [[
    const uint side = weight / 128u, quarter = weight % 128u / 32u, place = weight % 32u;
    const ^ low = bytes_of_$(base, 64u * side + 32u * (quarter % 2u) + place) >> quarter / 2u * 4u;
    const ^ high = bytes_of_$(base, 128u + 32u * side + place) >> 2u * quarter;
    return @(low & 15u | (high & 3u) << 4u) - 32.0;]],
}

-- The same for four of them in a word, of signed bytes: what is subtracted borrows nothing from the byte above.
local packed = {
  q4_0 = [[
    const uint four = word_$(base, 2u + weight % 16u) >> weight / 16u * 4u & 0x0f0f0f0fu;
    return (four | 0x80808080u) - 0x08080808u ^ 0x80808080u;]],
  q8_0 = "return word_$(base, 2u + weight);",
  q4_K = "return word_$(base, 16u + weight / 64u * 32u + weight % 32u) >> weight / 32u % 2u * 4u & 0x0f0f0f0fu;",
  q6_K = [[
    const uint side = weight / 128u, quarter = weight % 128u / 32u, place = weight % 32u;
    const uint low = word_$(base, 64u * side + 32u * (quarter % 2u) + place) >> quarter / 2u * 4u & 0x0f0f0f0fu;
    const uint high = word_$(base, 128u + 32u * side + place) >> 2u * quarter & 0x03030303u;
    return ((low | high << 4u) | 0x80808080u) - 0x20202020u ^ 0x80808080u;]],
}

-- Letters of the texts above that stand for names and types.
local function filled(text, letters)
  local out = {}
  for i = 1, #text do out[i] = letters[text:sub(i, i)] or text:sub(i, i) end
  return table.concat(out)
end

-- A function of a weight in a block, by the number of its first one.
local function of_block(format, head, first, body)
  local f = blocks.formats[format]
  return head .. "\n{\n    const uint base = (" .. first .. ") / " .. f.weights .. "u * " .. f.bytes // 2 .. "u, weight = (" .. first ..
    ") % " .. f.weights .. "u;\n    " .. body .. "\n}\n"
end

local function shared_functions(format)
  return "float half_$(uint at) { return unpackHalf2x16(uint(matrix_$[at])).x; }\nuint byte_$(uint base, uint at) { return " ..
    read[1] .. "; }\n\n" .. of_block(format, "vec2 scale_$(uint at)", "at", scales[format])
end

function blocks.reader(format, name, n)
  local words = glsl.vector("word", n)
  local letters = { ["$"] = name, ["@"] = glsl.vector("f32", n), ["~"] = glsl.vector("i32", n), ["^"] = words }
  local first = glsl.times("at", n)
  return filled(shared_functions(format) .. "^ bytes_of_$(uint base, uint at) { return " .. read[n] .. "; }\n\n" ..
    of_block(format, "@ number_$(uint at)", first, decoded[format]) .. [[

@ weights_$(uint at)
{
    const vec2 scale = scale_$(]] .. first .. ");\n    return scale.x * number_$(at)" ..
    (blocks.has_minimum(format) and " - scale.y" or "") .. ";\n}\n", letters)
end

function blocks.packed_reader(format, name)
  return filled(shared_functions(format) .. [[
uint word_$(uint base, uint at) { return uint(matrix_$[base + at / 2]) | uint(matrix_$[base + at / 2 + 1]) << 16; }

]] .. of_block(format, "uint bytes_$(uint at)", "4 * at", packed[format]), { ["$"] = name })
end

function blocks.words(name, n, value)
  local all, type = {}, glsl.vector("word", n)
  for i = 0, n - 1 do all[#all + 1] = value(glsl.sum(glsl.times("at", n), i)) end
  return type .. " words_" .. name .. "(uint at) { return " .. type .. "(" .. table.concat(all, ", ") .. "); }"
end

return blocks
