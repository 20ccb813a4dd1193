#version 450
// One row of C a workgroup; what the parameters say is only written down: ${c.groups[1]} ${c.unroll}
layout(local_size_x = ${M}) in;
layout(binding = 0) readonly buffer InputA { float a[]; };
layout(binding = 1) readonly buffer InputB { float b[]; };
layout(binding = 2) writeonly buffer OutputC { float result[]; };

void main()
{
    uint matrix = gl_WorkGroupID.z, row = gl_WorkGroupID.y, column = gl_LocalInvocationID.x;
    float sum = 0.0;
    for (uint k = 0; k < ${K}; k++)
        sum += a[(matrix * ${N} + row) * ${K} + k] * b[(matrix * ${K} + k) * ${M} + column];
    result[(matrix * ${N} + row) * ${M} + column] = sum;
}
