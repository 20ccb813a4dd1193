#version 450
% local a = op.layout:sub(1, 1) == "n" and "row * " .. K .. " + k" or "k * " .. N .. " + row"
% local b = op.layout:sub(2, 2) == "n" and "k * " .. M .. " + column" or "column * " .. K .. " + k"
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer MatrixA { float a[]; };
layout(std430, set = 0, binding = 1) readonly buffer MatrixB { float b[]; };
layout(std430, set = 0, binding = 2) writeonly buffer MatrixC { float c[]; };

void main()
{
    uint matrix = gl_WorkGroupID.z, row = gl_WorkGroupID.y, column = gl_GlobalInvocationID.x;
    if (column >= ${M})
        return;
    float sum = 0.0;
    for (uint k = 0; k < ${K}; ++k)
        sum += a[matrix * ${N * K} + ${a}] * b[matrix * ${K * M} + ${b}];
    c[matrix * ${N * M} + row * ${M} + column] = sum;
}
