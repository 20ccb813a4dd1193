#version 450
layout(local_size_x = 32) in;
layout(std430, set = 0, binding = 0) readonly buffer Input { float x[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Output { float y[]; };

void main()
{
    uint row = gl_GlobalInvocationID.x;
    if (row >= ${op.rows})
        return;
    uint first = row * ${op.columns}, end = first + ${op.columns};
    float largest = x[first], sum = 0.0;
    for (uint i = first; i < end; ++i)
        largest = max(largest, x[i]);
    for (uint i = first; i < end; ++i)
        sum += exp(x[i] - largest);
    for (uint i = first; i < end; ++i)
        y[i] = exp(x[i] - largest) / sum;
}
