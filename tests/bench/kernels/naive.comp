#version 450
// The yardstick of beginners: C[256,256] = A B, one element an invocation, 64 neighbours in a row to a workgroup.
// groups: 4 256
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer MatrixA { float a[]; };
layout(std430, set = 0, binding = 1) readonly buffer MatrixB { float b[]; };
layout(std430, set = 0, binding = 2) writeonly buffer MatrixC { float c[]; };

const uint M = 256, K = 256;

void main()
{
    uint row = gl_WorkGroupID.y, column = gl_GlobalInvocationID.x;
    float sum = 0.0;
    for (uint k = 0; k < K; ++k)
        sum += a[row * K + k] * b[k * M + column];
    c[row * M + column] = sum;
}
