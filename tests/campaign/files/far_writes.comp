#version 450
layout(local_size_x = 64) in;
layout(binding = 2) writeonly buffer C { float result[]; };
void main() { result[5376 + gl_LocalInvocationIndex] = 1.0; result[int(gl_LocalInvocationIndex) - 4096] = 2.0; }
