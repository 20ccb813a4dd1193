#version 450
layout(local_size_x = 16, local_size_y = 16) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) buffer Y { float y[]; };
const uint ROWS = ${rows}, COLUMNS = ${columns};
shared float tile[16][17];

void main()
{
    uint i = gl_LocalInvocationID.x, j = gl_LocalInvocationID.y;
    uvec2 at = gl_WorkGroupID.xy * 16;
    if (at.x + i < COLUMNS && at.y + j < ROWS)
        tile[j][i] = x[(at.y + j) * COLUMNS + at.x + i];
    barrier();
    if (at.y + i < ROWS && at.x + j < COLUMNS)
        y[(at.x + j) * ROWS + at.y + i] = tile[i][j];
}
