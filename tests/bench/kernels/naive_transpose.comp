#version 450
layout(local_size_x = 32) in;
layout(std430, set = 0, binding = 0) readonly buffer Input { float x[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Output { float y[]; };

void main()
{
    uint column = gl_GlobalInvocationID.x, row = gl_WorkGroupID.y;
    if (column < ${op.columns})
        y[column * ${op.rows} + row] = x[row * ${op.columns} + column];
}
