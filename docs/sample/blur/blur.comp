#version 450
// Blurs the rows of an image: each pixel becomes the mean of the 33 around it; outside is black.
layout(local_size_x_id = 0, local_size_y_id = 1) in;
layout(constant_id = 2) const uint RUN = 1; // neighbouring pixels that an invocation computes

layout(push_constant) uniform Size {
    uint width, height;
};
layout(std430, binding = 0) readonly buffer Image { float image[]; };
layout(std430, binding = 1) writeonly buffer Blurred { float blurred[]; };

const int RADIUS = 16;

float pixel(int x, uint row)
{
    return x >= 0 && x < int(width) ? image[row + x] : 0.0;
}

void main()
{
    const int first = int(gl_GlobalInvocationID.x * RUN);
    const uint row = gl_GlobalInvocationID.y * width;
    if (first >= int(width) || gl_GlobalInvocationID.y >= height)
        return;
    float sum = 0.0;
    for (int x = first - RADIUS; x <= first + RADIUS; x++)
        sum += pixel(x, row);
    for (int x = first; x < min(first + int(RUN), int(width)); x++) {
        blurred[row + x] = sum / (2 * RADIUS + 1);
        sum += pixel(x + RADIUS + 1, row) - pixel(x - RADIUS, row);
    }
}
