#version 450
// C[256,256] = A B, 8 rows by 8 columns of registers an invocation, the columns side by side and read as two vec4.
// groups: 4 32
#extension GL_EXT_control_flow_attributes : require
layout(local_size_x = 8) in;
layout(std430, set = 0, binding = 0) readonly buffer MatrixA { float a[]; };
layout(std430, set = 0, binding = 1) readonly buffer MatrixB { vec4 b[]; };
layout(std430, set = 0, binding = 2) writeonly buffer MatrixC { vec4 c[]; };

const uint M = 256, K = 256, ROWS = 8, QUADS = 2; // a quad: four columns

void main()
{
    uint row = gl_WorkGroupID.y * ROWS;
    uint quad = gl_GlobalInvocationID.x * QUADS;
    vec4 sum[ROWS][QUADS];
    [[unroll]] for (uint i = 0; i < ROWS; ++i)
        [[unroll]] for (uint j = 0; j < QUADS; ++j)
            sum[i][j] = vec4(0.0);
    for (uint k = 0; k < K; ++k) {
        vec4 right[QUADS];
        [[unroll]] for (uint j = 0; j < QUADS; ++j)
            right[j] = b[k * (M / 4) + quad + j];
        [[unroll]] for (uint i = 0; i < ROWS; ++i) {
            float left = a[(row + i) * K + k];
            [[unroll]] for (uint j = 0; j < QUADS; ++j)
                sum[i][j] += left * right[j];
        }
    }
    [[unroll]] for (uint i = 0; i < ROWS; ++i)
        [[unroll]] for (uint j = 0; j < QUADS; ++j)
            c[(row + i) * (M / 4) + quad + j] = sum[i][j];
}
