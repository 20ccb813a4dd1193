#version 450
layout(local_size_x = 64) in;
layout(binding = 2) writeonly buffer C { float result[]; };
% while true do
void f();
% end
void main() {}
