#version 450
layout(local_size_x = 64) in;
layout(binding = 2) writeonly buffer C { float result[]; };
#define X0 result[0] = 1.0;
% for i = 1, 30 do
#define X${i} X${i - 1} X${i - 1}
% end
void main() { X30 }
