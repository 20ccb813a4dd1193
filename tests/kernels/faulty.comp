#version 450
layout(local_size_x = 8, local_size_y = 8) in;
layout(std430, binding = 0) readonly buffer A { float a[]; };
layout(std430, binding = 1) readonly buffer B { float b[]; };
layout(std430, binding = 2) writeonly buffer C { float c[]; };
% if fault == "shared" then
shared float undeclared[64];
% end
% if fault == "outside" then
shared float few[60];
% end

void main()
{
    uint row = gl_LocalInvocationID.y, column = gl_LocalInvocationID.x;
    float sum = 0.0;
    for (uint k = 0; k < 8; ++k)
        sum += a[row * 8 + k] * b[k * 8 + column];
% if fault == "value" then
    sum += row * 8 + column == 37 ? 1.0 : 0.0;
% end
% if fault == "unwritten" then
    if (row * 8 + column == 63)
        return;
% end
% if fault == "shared" then
    undeclared[row * 8 + column] = sum;
    sum = undeclared[row * 8 + column];
% end
    c[row * 8 + column] = sum;
% if fault == "outside" then
    few[row * 8 + column] = sum;
% end
% if fault == "past" then
    c[64 + row] = sum;
% end
}
