// D = B times the matrix of the expert that IDS names, weight by weight: what is right, in double where the device has it.
#version 450
% local real = device.types.f64 and "double" or "float"
% local is_f16 = op.type == "f16"
% if is_f16 then
#extension GL_EXT_shader_16bit_storage : require
% end
layout(local_size_x = 64) in;
% local element = op.type == "f32" and "float" or is_f16 and "float16_t" or "uint"
layout(std430, binding = ${op.bindings.A}) restrict readonly buffer A { ${element} a[]; };
layout(std430, binding = ${op.bindings.B}) restrict readonly buffer B { float b[]; };
layout(std430, binding = ${op.bindings.IDS}) restrict readonly buffer Ids { int ids[]; };
layout(std430, binding = ${op.bindings.D}) restrict writeonly buffer D { float d[]; };
% if op.type ~= "f32" and not is_f16 then

uint byte_at(uint i) { return a[i / 4] >> (8 * (i % 4)) & 0xffu; }
float half_at(uint i) { return unpackHalf2x16(byte_at(i) | byte_at(i + 1) << 8).x; }
int signed_byte_at(uint i) { return int(byte_at(i) << 24) >> 24; }
% end

${real} weight(uint row, uint k)
{
% if op.type == "f32" or is_f16 then
    return ${real}(a[row * ${K} + k]);
% elseif op.type == "q4_0" then
    const uint at = (row * ${K // 32} + k / 32) * 18, i = k % 32;
    return ${real}(half_at(at)) * ${real}(int(byte_at(at + 2 + i % 16) >> (4 * (i / 16)) & 15u) - 8);
% elseif op.type == "q8_0" then
    const uint at = (row * ${K // 32} + k / 32) * 34;
    return ${real}(half_at(at)) * ${real}(signed_byte_at(at + 2 + k % 32));
% elseif op.type == "q4_K" then
    const uint at = (row * ${K // 256} + k / 256) * 144, i = k % 256, j = i / 32; // 12 bytes have scales and minima of 6 bits
    const uint low = byte_at(at + 4 + j % 4), high = byte_at(at + 8 + j % 4), both = byte_at(at + 12 + j % 4);
    const uint scale = j < 4 ? low & 63u : both & 15u | low >> 6 << 4, least = j < 4 ? high & 63u : both >> 4 | high >> 6 << 4;
    const uint q = byte_at(at + 16 + i / 64 * 32 + i % 32) >> (4 * (i / 32 % 2)) & 15u;
    return ${real}(half_at(at)) * ${real}(scale) * ${real}(q) - ${real}(half_at(at + 2)) * ${real}(least);
% else
    const uint at = (row * ${K // 256} + k / 256) * 210, i = k % 256, n = i / 128, l = i % 32, part = i % 128 / 32;
    const uint low = byte_at(at + n * 64 + part % 2 * 32 + l) >> (4 * (part / 2)) & 15u;
    const uint high = byte_at(at + 128 + n * 32 + l) >> (2 * part) & 3u;
    return ${real}(half_at(at + 208)) * ${real}(signed_byte_at(at + 192 + i / 16)) * ${real}(int(low | high << 4) - 32);
% end
}

void main()
{
    const uint m = gl_GlobalInvocationID.x, choice = gl_WorkGroupID.y; // a token's choices lie together
    if (m >= ${M})
        return;
    ${real} sum = ${real}(0.0);
    for (uint k = 0; k < ${K}; k++)
        sum += weight(uint(ids[choice]) * ${M} + m, k) * ${real}(b[choice / ${used} * ${K} + k]);
    d[choice * ${M} + m] = float(sum);
}
