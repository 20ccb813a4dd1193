#version 450
// C[256,256] = A B, 16 rows by 8 columns of registers an invocation. The 8 columns lie 8 apart, so that the 8 invocations
// of a workgroup (one SIMD register on lavapipe) always read neighbours of B and all read the same element of A.
// groups: 4 16
#extension GL_EXT_control_flow_attributes : require
layout(local_size_x = 8) in;
layout(std430, set = 0, binding = 0) readonly buffer MatrixA { float a[]; };
layout(std430, set = 0, binding = 1) readonly buffer MatrixB { float b[]; };
layout(std430, set = 0, binding = 2) writeonly buffer MatrixC { float c[]; };

const uint M = 256, K = 256, ROWS = 16, COLUMNS = 8, STRIDE = 8;

void main()
{
    uint row = gl_WorkGroupID.y * ROWS;
    uint column = gl_WorkGroupID.x * COLUMNS * STRIDE + gl_LocalInvocationID.x;
    float sum[ROWS][COLUMNS];
    [[unroll]] for (uint i = 0; i < ROWS; ++i)
        [[unroll]] for (uint j = 0; j < COLUMNS; ++j)
            sum[i][j] = 0.0;
    for (uint k = 0; k < K; ++k) {
        float right[COLUMNS];
        [[unroll]] for (uint j = 0; j < COLUMNS; ++j)
            right[j] = b[k * M + column + j * STRIDE];
        [[unroll]] for (uint i = 0; i < ROWS; ++i) {
            float left = a[(row + i) * K + k];
            [[unroll]] for (uint j = 0; j < COLUMNS; ++j)
                sum[i][j] += left * right[j];
        }
    }
    [[unroll]] for (uint i = 0; i < ROWS; ++i)
        [[unroll]] for (uint j = 0; j < COLUMNS; ++j)
            c[(row + i) * M + column + j * STRIDE] = sum[i][j];
}
