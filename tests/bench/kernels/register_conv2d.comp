#version 450
#extension GL_EXT_control_flow_attributes : require
layout(local_size_x = ${lanes}) in;
layout(std430, set = 0, binding = 0) readonly buffer Input { float x[]; };
layout(std430, set = 0, binding = 1) readonly buffer Weights { float w[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Output { float y[]; };

const uint FILTERS = 8, ROWS = 4;

void main()
{
    uint column = gl_GlobalInvocationID.x, row = gl_WorkGroupID.y * ROWS;
    uint image = gl_WorkGroupID.z / ${op.out_channels // 8}, first = gl_WorkGroupID.z % ${op.out_channels // 8} * FILTERS;
    float sum[FILTERS][ROWS];
    [[unroll]] for (uint f = 0; f < FILTERS; ++f)
        [[unroll]] for (uint r = 0; r < ROWS; ++r)
            sum[f][r] = 0.0;
    for (uint c = 0; c < ${op.in_channels}; ++c)
        for (uint i = 0; i < ${op.kernel_h}; ++i)
            for (uint j = 0; j < ${op.kernel_w}; ++j) {
                float pixel[ROWS];
                int at_x = int(column * ${op.stride} + j) - ${op.padding};
                [[unroll]] for (uint r = 0; r < ROWS; ++r) {
                    int at_y = int((row + r) * ${op.stride} + i) - ${op.padding};
                    bool inside = at_y >= 0 && at_y < ${op.height} && at_x >= 0 && at_x < ${op.width};
                    uint at = ((image * ${op.in_channels} + c) * ${op.height} + uint(at_y)) * ${op.width} + uint(at_x);
                    pixel[r] = inside ? x[at] : 0.0;
                }
                [[unroll]] for (uint f = 0; f < FILTERS; ++f) {
                    float weight = w[(((first + f) * ${op.in_channels} + c) * ${op.kernel_h} + i) * ${op.kernel_w} + j];
                    [[unroll]] for (uint r = 0; r < ROWS; ++r)
                        sum[f][r] += pixel[r] * weight;
                }
            }
    [[unroll]] for (uint f = 0; f < FILTERS; ++f)
        [[unroll]] for (uint r = 0; r < ROWS; ++r)
            if (row + r < ${op.out_height} && column < ${op.out_width})
                y[((image * ${op.out_channels} + first + f) * ${op.out_height} + row + r) * ${op.out_width} + column] = sum[f][r];
}
