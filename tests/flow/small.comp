#version 450
// One invocation for each element of C; what the parameters say is ignored.
layout(local_size_x = 64, local_size_y = ${c.tile[2] * c.tile[3] * c.tile[4]}) in;
layout(binding = 0) readonly buffer InputA { float a[]; };
layout(binding = 1) readonly buffer InputB { float b[]; };
layout(binding = 2) writeonly buffer OutputC { float result[]; };

void main()
{
    uint row = gl_GlobalInvocationID.y, column = gl_GlobalInvocationID.x;
    float sum = 0.0;
    for (uint k = 0; k < 64; k++)
        sum += a[row * 64 + k] * b[k * 64 + column];
    result[row * 64 + column] = sum;
}
