#version 450
layout(local_size_x = 64) in;
layout(binding = 2) writeonly buffer C { float result[]; };
float big[2147483647];
shared float more[1073741824];
void main() { big[gl_LocalInvocationIndex] = 1.0; result[0] = big[0] + more[1]; }
