#version 450
layout(local_size_x = 32) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) buffer Y { float y[]; };
const uint COLUMNS = ${columns};
shared float part[32];

void main()
{
    uint row = gl_WorkGroupID.x, i = gl_LocalInvocationID.x;
    float most = -3.4e38;
    for (uint k = i; k < COLUMNS; k += 32)
        most = max(most, x[row * COLUMNS + k]);
    part[i] = most;
    barrier();
    for (uint other = 0; other < 32; other++)
        most = max(most, part[other]);
    barrier();
    float sum = 0.0;
    for (uint k = i; k < COLUMNS; k += 32)
        sum += exp(x[row * COLUMNS + k] - most);
    part[i] = sum;
    barrier();
    for (uint half_of = 16; half_of > 0; half_of /= 2) {
        if (i < half_of)
            part[i] += part[i + half_of];
        barrier();
    }
    for (uint k = i; k < COLUMNS; k += 32)
        y[row * COLUMNS + k] = exp(x[row * COLUMNS + k] - most) / part[0];
}
