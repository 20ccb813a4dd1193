#version 450
layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0) readonly buffer A { float a[]; };
layout(binding = 1) readonly buffer B { float b[]; };
layout(binding = 2) buffer C { float c[]; };
layout(binding = 3) buffer S { float kept[]; };
const uint N = ${N}, M = ${M}, K = ${K};
shared float left[8][8], right[8][8];

void main()
{
    uint x = gl_LocalInvocationID.x, y = gl_LocalInvocationID.y;
    uint row = gl_GlobalInvocationID.y, column = gl_GlobalInvocationID.x;
    float sum = 0.0;
    for (uint at = 0; at < K; at += 8) {
        left[y][x] = row < N && at + x < K ? a[row * K + at + x] : 0.0;
        right[y][x] = column < M && at + y < K ? b[(at + y) * M + column] : 0.0;
        barrier();
        for (uint k = 0; k < 8; k++)
            sum += left[y][k] * right[k][x];
        barrier();
    }
    if (row < N && column < M)
        c[row * M + column] = sum;
}
