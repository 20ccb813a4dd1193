#version 450
layout(local_size_x = 32) in;
layout(std430, set = 0, binding = 0) readonly buffer Input { float x[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Output { float y[]; };

void main()
{
    uint column = gl_GlobalInvocationID.x, row = gl_WorkGroupID.y, channel = gl_WorkGroupID.z;
    if (column >= ${op.out_width})
        return;
    float sum = 0.0, largest = -3.402823e38, inside = 0.0;
    for (uint i = 0; i < ${op.window}; ++i)
        for (uint j = 0; j < ${op.window}; ++j) {
            int at_y = int(row * ${op.stride} + i) - ${op.padding}, at_x = int(column * ${op.stride} + j) - ${op.padding};
            if (at_y < 0 || at_y >= ${op.height} || at_x < 0 || at_x >= ${op.width})
                continue;
            float value = x[(channel * ${op.height} + uint(at_y)) * ${op.width} + uint(at_x)];
            sum += value;
            inside += 1.0;
            largest = max(largest, value);
        }
    y[(channel * ${op.out_height} + row) * ${op.out_width} + column] = ${mean and "sum / inside" or "largest"};
}
