-- Weights in blocks, as quantised models have them (src/space/block.h): GLSL that reads them as floats.
--
--     blocks.formats.q4_0                    { weights = 32, bytes = 18 } of a block
--     blocks.reader(format, name, n)         functions: weights_NAME(at) is vector `at` of n weights (1, 2 or 4) of the buffer
--                                            matrix_NAME of uint16_t; decoded_NAME(base, weight) the one from `weight` on of
--                                            the block that begins at number `base`
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

-- Bytes `at`, `at` + 1, ... of a block as the components of a vector.
local read = {
  [1] = "uint(matrix_$[base + at / 2]) >> at % 2 * 8 & 255u",
  [2] = "(uvec2(uint(matrix_$[base + at / 2])) >> uvec2(0u, 8u)) & 255u",
  [4] = "(uvec2(uint(matrix_$[base + at / 2]), uint(matrix_$[base + at / 2 + 1])).xxyy >> uvec4(0u, 8u, 0u, 8u)) & 255u",
}

-- The statements that find the weights from `weight` on, of type @, in the block that begins at `base`.
local decoded = {
  q4_0 = [[
    const @ q = @((bytes_$(base, 2u + weight % 16u) >> weight / 16u * 4u) & 15u);
    return half_$(base) * (q - 8.0);]],
  q8_0 = [[
    const ~ q = ~(bytes_$(base, 2u + weight) << 24u) >> 24;
    return half_$(base) * @(q);]],
  q4_K = [[
    const uint run = weight / 32u;
    const @ q = @((bytes_$(base, 16u + run / 2u * 32u + weight % 32u) >> run % 2u * 4u) & 15u);
    const uint here = byte_$(base, 4u + run), behind = byte_$(base, 8u + run), before = byte_$(base, 4u + run % 4u);
    const uint scale = run < 4u ? here & 63u : behind & 15u | before >> 6u << 4u;
    const uint minimum = run < 4u ? behind & 63u : behind >> 4u | here >> 6u << 4u;
    return half_$(base) * float(scale) * q - half_$(base + 1u) * float(minimum);]],
  q6_K = [[
    const uint side = weight / 128u, quarter = weight % 128u / 32u, place = weight % 32u;
    const ^ low = bytes_$(base, 64u * side + 32u * (quarter % 2u) + place) >> quarter / 2u * 4u;
    const ^ high = bytes_$(base, 128u + 32u * side + place) >> 2u * quarter;
    const int scale = int(byte_$(base, 192u + weight / 16u) << 24u) >> 24;
    const @ q = @(low & 15u | (high & 3u) << 4u);
    return half_$(base + 104u) * float(scale) * (q - 32.0);]],
}

-- Letters of the texts above that stand for names and types.
local function filled(text, letters)
  local out = {}
  for i = 1, #text do out[i] = letters[text:sub(i, i)] or text:sub(i, i) end
  return table.concat(out)
end

function blocks.reader(format, name, n)
  local f, words = blocks.formats[format], glsl.vector("word", n)
  local letters = { ["$"] = name, ["@"] = glsl.vector("f32", n), ["~"] = glsl.vector("i32", n), ["^"] = words }
  return filled([[
float half_$(uint at) { return unpackHalf2x16(uint(matrix_$[at])).x; }
uint byte_$(uint base, uint at) { return ]] .. read[1] .. [[; }
^ bytes_$(uint base, uint at) { return ]] .. read[n] .. [[; }

@ decoded_$(uint base, uint weight)
{
]] .. decoded[format] .. [[

}

@ weights_$(uint at)
{
    const uint first = ]] .. glsl.times("at", n) .. ";\n    return decoded_$(first / " .. f.weights .. "u * " .. f.bytes // 2 ..
    "u, first % " .. f.weights .. "u);\n}\n", letters)
end

return blocks
