#version 450
layout(local_size_x = 64) in;
layout(binding = 2) writeonly buffer C { float result[]; };
void main() { ${string.rep("{ if (true) ", 20000)}; ${string.rep("}", 20000)} }
