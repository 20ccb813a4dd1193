#version 450
layout(local_size_x = 32) in;
layout(std430, set = 0, binding = 0) readonly buffer Input { float x[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Output { float y[]; };

void main()
{
    uint column = gl_GlobalInvocationID.x, row = gl_WorkGroupID.y;
    int image = int(gl_WorkGroupID.z / ${op.channels}), channel = int(gl_WorkGroupID.z % ${op.channels});
    if (column >= ${op.width})
        return;
    float squares = 0.0;
    for (int c = max(channel - ${op.window // 2}, 0); c <= min(channel + ${(op.window - 1) // 2}, ${op.channels - 1}); ++c) {
        float value = x[((image * ${op.channels} + c) * ${op.height} + row) * ${op.width} + column];
        squares += value * value;
    }
    uint at = ((image * ${op.channels} + channel) * ${op.height} + row) * ${op.width} + column;
    y[at] = x[at] * pow(${op.bias_k} + ${op.alpha / op.window} * squares, -${op.beta});
}
