#version 450
layout(local_size_x = 64) in;
layout(binding = 2) writeonly buffer C { float result[]; };
void main() { result[0] = ${string.rep("(", 20000)}1.0${string.rep(")", 20000)}; }
