#version 450
#extension GL_EXT_control_flow_attributes : require
layout(local_size_x = ${lanes}) in;
layout(std430, set = 0, binding = 0) readonly buffer Input { float x[]; };
layout(std430, set = 0, binding = 1) readonly buffer Weights { float w[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Output { float y[]; };

const uint ROWS = 4, KERNEL = ${op.kernel_h};

void main()
{
    uint column = gl_GlobalInvocationID.x, row = gl_WorkGroupID.y * ROWS;
    uint plane = gl_WorkGroupID.z, channel = plane % ${op.groups};
    float sum[ROWS];
    [[unroll]] for (uint r = 0; r < ROWS; ++r)
        sum[r] = 0.0;
    [[unroll]] for (uint j = 0; j < ${op.kernel_w}; ++j) {
        int at_x = int(column + j) - ${op.padding};
        [[unroll]] for (uint i = 0; i < ROWS + KERNEL - 1; ++i) {
            int at_y = int(row + i) - ${op.padding};
            bool inside = at_y >= 0 && at_y < ${op.height} && at_x >= 0 && at_x < ${op.width};
            float pixel = inside ? x[(plane * ${op.height} + uint(at_y)) * ${op.width} + uint(at_x)] : 0.0;
            [[unroll]] for (uint r = 0; r < ROWS; ++r)
                if (i >= r && i - r < KERNEL)
                    sum[r] += pixel * w[(channel * KERNEL + i - r) * ${op.kernel_w} + j];
        }
    }
    [[unroll]] for (uint r = 0; r < ROWS; ++r)
        if (row + r < ${op.out_height} && column < ${op.out_width})
            y[(plane * ${op.out_height} + row + r) * ${op.out_width} + column] = sum[r];
}
