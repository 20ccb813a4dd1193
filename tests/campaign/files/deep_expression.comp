#version 450
layout(local_size_x = 64) in;
layout(binding = 2) writeonly buffer C { float result[]; };
void main() { float x = float(gl_LocalInvocationIndex); result[0] = x${string.rep(" + x", 15000)}; }
