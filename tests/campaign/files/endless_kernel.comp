#version 450
layout(local_size_x = 64) in;
layout(binding = 2) writeonly buffer C { float result[]; };
void main() { uint i = 1; while (i != 0u) { result[i % 64u] = float(i); i = i * 2u + 1u; } }
