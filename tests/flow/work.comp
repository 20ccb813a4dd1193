#version 450
// A row of C a workgroup, computed ${({ most = 900, much = 100, some = 10, least = 1 })[c.work]} times.
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer InputA { float a[]; };
layout(binding = 1) readonly buffer InputB { float b[]; };
layout(binding = 2) buffer OutputC { float result[]; };

void main()
{
    uint row = gl_WorkGroupID.y, column = gl_LocalInvocationID.x;
    for (uint again = 0; again < ${({ most = 900, much = 100, some = 10, least = 1 })[c.work]}; again++) {
        float sum = 0.0;
        for (uint k = 0; k < 64; k++)
            sum += a[row * 64 + (k + again) % 64] * b[(k + again) % 64 * 64 + column];
        result[row * 64 + column] = sum;
    }
}
