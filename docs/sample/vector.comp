#version 450
// One invocation for each row. A block of q4_K is 36 words: a scale and a scale of minima (f16), 8 scales and 8 minima of 6
// bits, 256 weights of 4 bits, 32 of them to a run, whose neighbours of 64 share bytes.
layout(local_size_x = ${c.rows}) in;
layout(std430, binding = ${op.bindings.A}) restrict readonly buffer A { uint a[]; };
layout(std430, binding = ${op.bindings.X}) restrict readonly buffer X { float x[]; };
layout(std430, binding = ${op.bindings.Y}) restrict writeonly buffer Y { float y[]; };

uint scale_byte(uint block, uint i)
{
    return bitfieldExtract(a[block + 1 + i / 4], int(8 * (i % 4)), 8);
}

void main()
{
    const uint row = gl_GlobalInvocationID.x;
    if (row >= ${N})
        return;
    float sum = 0.0;
    for (uint b = 0; b < ${K // 256}; b++) {
        const uint block = (row * ${K // 256} + b) * 36;
        const vec2 d = unpackHalf2x16(a[block]);
        for (uint run = 0; run < 8; run++) {
            uint scale = scale_byte(block, run < 4 ? run : run + 4) & (run < 4 ? 63 : 15);
            uint minimum = scale_byte(block, run + 4);
            minimum = run < 4 ? minimum & 63 : minimum >> 4;
            if (run >= 4) {
                scale |= scale_byte(block, run - 4) >> 6 << 4;
                minimum |= scale_byte(block, run) >> 6 << 4;
            }
            const float by = d.x * scale, below = d.y * minimum;
            const uint first = b * 256 + run * 32;
            for (uint i = 0; i < 8; i += ${c.unroll}) {
% for u = 0, c.unroll - 1 do
                {
                    const uint word = a[block + 4 + run / 2 * 8 + i + ${u}] >> (4 * (run % 2));
                    for (uint k = 0; k < 4; k++)
                        sum += (by * float(word >> (8 * k) & 15) - below) * x[first + 4 * (i + ${u}) + k];
                }
% end
            }
        }
    }
    y[row] = sum;
}
