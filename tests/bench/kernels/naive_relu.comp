#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Input { float x[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Output { float y[]; };

void main()
{
    uint i = (gl_WorkGroupID.y * 32768 + gl_WorkGroupID.x) * 64 + gl_LocalInvocationID.x;
    if (i < ${op.count})
        y[i] = max(x[i], 0.0);
}
