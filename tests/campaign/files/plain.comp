#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer A { float a[]; };
layout(binding = 1) readonly buffer B { float b[]; };
layout(binding = 2) writeonly buffer C { float result[]; };
void main()
{
    uint row = gl_LocalInvocationIndex / 8, column = gl_LocalInvocationIndex % 8;
    float sum = 0.0;
    for (uint k = 0; k < 8; k++)
        sum += a[row * 8 + k] * b[k * 8 + column];
    result[gl_LocalInvocationIndex] = sum;
}
