#version 450
layout(local_size_x = ${lanes}) in;
layout(std430, set = 0, binding = 0) readonly buffer Input { float x[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Output { float y[]; };
shared float part[${lanes}];

void main()
{
    uint row = gl_WorkGroupID.y * 32768 + gl_WorkGroupID.x, lane = gl_LocalInvocationID.x;
    if (row >= ${op.rows})
        return;
    uint first = row * ${op.columns}, end = first + ${op.columns};
    float largest = -3.402823e38, sum = 0.0;
    for (uint i = first + lane; i < end; i += ${lanes})
        largest = max(largest, x[i]);
    part[lane] = largest;
    barrier();
    for (uint i = 0; i < ${lanes}; ++i)
        largest = max(largest, part[i]);
    barrier();
    for (uint i = first + lane; i < end; i += ${lanes})
        sum += exp(x[i] - largest);
    part[lane] = sum;
    barrier();
    sum = 0.0;
    for (uint i = 0; i < ${lanes}; ++i)
        sum += part[i];
    for (uint i = first + lane; i < end; i += ${lanes})
        y[i] = exp(x[i] - largest) / sum;
}
