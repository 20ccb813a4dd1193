#version 450
layout(local_size_x = 64) in;
layout(binding = 2) writeonly buffer C { float result[]; };
#define X(a) Y(a, X(a))
#define Y(a, b) X(b) X(a)
void main() { X(X(X(1))) }
