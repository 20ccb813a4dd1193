#version 450
// What a blurred row is, pixel by pixel.
layout(local_size_x = 16) in;
layout(std430, binding = 0) readonly buffer Image { float image[]; };
layout(std430, binding = 1) writeonly buffer Blurred { float blurred[]; };

void main()
{
    const int x = int(gl_GlobalInvocationID.x), row = int(gl_GlobalInvocationID.y) * ${width};
    if (x >= ${width})
        return;
    float sum = 0.0;
    for (int i = max(x - 16, 0); i <= min(x + 16, ${width - 1}); i++)
        sum += image[row + i];
    blurred[row + x] = sum / 33.0;
}
