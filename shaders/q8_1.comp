// Packs rows of K whole numbers from -4 to 4 as ggml's q8_1: 32 signed bytes and their scale and sum, four such blocks together. Scales are
// powers of two, one in four the same, so that nothing is rounded. Rows behind the last one are zeros.
#version 450
layout(local_size_x = 64) in;
layout(std430, binding = ${op.bindings.B}) restrict readonly buffer Source { float b[]; };
layout(std430, binding = ${op.bindings.scratch}) restrict writeonly buffer Packed { uint packed_blocks[]; }; // 4 + 32 words each

void main()
{
    const uint block = gl_GlobalInvocationID.x; // of 32 numbers
    if (block >= ${packed_rows * (K // 32)})
        return;
    const uint outer = block / 4 * 36, inner = block % 4;
    const float scale = 1.0 / float(1u << inner);
    float sum = 0.0;
    for (uint word = 0; word < 8; word++) {
        uint bytes = 0;
        for (uint i = 0; i < 4; i++) {
            const uint at = block * 32 + word * 4 + i;
            const float number = at < ${N * K} ? b[at] : 0.0;
            sum += number;
            bytes |= (uint(int(number / scale)) & 0xffu) << (8 * i);
        }
        packed_blocks[outer + 4 + inner * 8 + word] = bytes;
    }
    packed_blocks[outer + inner] = packHalf2x16(vec2(scale, sum));
}
