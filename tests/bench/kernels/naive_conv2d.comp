#version 450
% local channels, filters = op.in_channels // op.groups, op.out_channels // op.groups
layout(local_size_x = 32) in;
layout(std430, set = 0, binding = 0) readonly buffer Input { float x[]; };
layout(std430, set = 0, binding = 1) readonly buffer Weights { float w[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Output { float y[]; };

void main()
{
    uint column = gl_GlobalInvocationID.x, row = gl_WorkGroupID.y;
    uint image = gl_WorkGroupID.z / ${op.out_channels}, filter_ = gl_WorkGroupID.z % ${op.out_channels};
    if (column >= ${op.out_width})
        return;
    float sum = 0.0;
    for (uint c = 0; c < ${channels}; ++c)
        for (uint i = 0; i < ${op.kernel_h}; ++i)
            for (uint j = 0; j < ${op.kernel_w}; ++j) {
                int at_y = int(row * ${op.stride} + i) - ${op.padding};
                int at_x = int(column * ${op.stride} + j) - ${op.padding};
                bool inside = at_y >= 0 && at_y < ${op.height} && at_x >= 0 && at_x < ${op.width};
                uint channel = filter_ / ${filters} * ${channels} + c;
                uint at = ((image * ${op.in_channels} + channel) * ${op.height} + uint(at_y)) * ${op.width} + uint(at_x);
                uint weight = ((filter_ * ${channels} + c) * ${op.kernel_h} + i) * ${op.kernel_w} + j;
                sum += (inside ? x[at] : 0.0) * w[weight];
            }
    y[((image * ${op.out_channels} + filter_) * ${op.out_height} + row) * ${op.out_width} + column] = sum;
}
