#version 450
layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0) readonly buffer A { float a[]; };
layout(binding = 1) readonly buffer B { float b[]; };
layout(binding = 2) buffer C { float c[]; };
layout(binding = 3) buffer S { float kept[]; };
const uint N = ${N}, M = ${M}, K = ${K};

void main()
{
    uint row = gl_GlobalInvocationID.y, column = gl_GlobalInvocationID.x;
    if (row >= N || column >= M)
        return;
    float sum = 0.0;
    for (uint k = 0; k < K; k++)
        sum += a[row * K + k] * b[k * M + column];
    c[row * M + column] = sum;
}
