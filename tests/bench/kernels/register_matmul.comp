#version 450
#extension GL_EXT_control_flow_attributes : require
% local a = op.layout:sub(1, 1) == "n" and "(row + i) * " .. K .. " + k" or "k * " .. N .. " + row + i"
% local at = "column + j * " .. lanes
% local b = op.layout:sub(2, 2) == "n" and "k * " .. M .. " + " .. at or "(" .. at .. ") * " .. K .. " + k"
layout(local_size_x = ${lanes}) in;
layout(std430, set = 0, binding = 0) readonly buffer MatrixA { float a[]; };
layout(std430, set = 0, binding = 1) readonly buffer MatrixB { float b[]; };
layout(std430, set = 0, binding = 2) writeonly buffer MatrixC { float c[]; };

void main()
{
    uint matrix = gl_WorkGroupID.z, row = gl_WorkGroupID.y * 8;
    uint column = gl_WorkGroupID.x * ${8 * lanes} + gl_LocalInvocationID.x;
    float sum[8][8];
    [[unroll]] for (uint i = 0; i < 8; ++i)
        [[unroll]] for (uint j = 0; j < 8; ++j)
            sum[i][j] = 0.0;
    for (uint k = 0; k < ${K}; ++k) {
        float right[8];
        [[unroll]] for (uint j = 0; j < 8; ++j)
            right[j] = b[matrix * ${K * M} + ${b}];
        [[unroll]] for (uint i = 0; i < 8; ++i) {
            float left = a[matrix * ${N * K} + ${a}];
            [[unroll]] for (uint j = 0; j < 8; ++j)
                sum[i][j] += left * right[j];
        }
    }
    [[unroll]] for (uint i = 0; i < 8; ++i)
        [[unroll]] for (uint j = 0; j < 8; ++j)
            c[matrix * ${N * M} + (row + i) * ${M} + ${at}] = sum[i][j];
}
