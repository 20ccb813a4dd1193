#version 450
layout(local_size_x = 64) in;
layout(binding = 2) writeonly buffer C { float result[]; };
void main() { result[gl_LocalInvocationIndex * 1000003u * 4096u] = 1.0; }
