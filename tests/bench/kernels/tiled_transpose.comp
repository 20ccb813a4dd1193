#version 450
layout(local_size_x = 32, local_size_y = 8) in;
layout(std430, set = 0, binding = 0) readonly buffer Input { float x[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Output { float y[]; };
shared float tile[32][33];

void main()
{
    uint i = gl_LocalInvocationID.x, j = gl_LocalInvocationID.y;
    uint row = gl_WorkGroupID.y * 32, column = gl_WorkGroupID.x * 32;
    for (uint k = j; k < 32; k += 8)
        tile[k][i] = x[(row + k) * ${op.columns} + column + i];
    barrier();
    for (uint k = j; k < 32; k += 8)
        y[(column + k) * ${op.rows} + row + i] = tile[i][k];
}
