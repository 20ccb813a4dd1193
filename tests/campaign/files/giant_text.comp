#version 450
layout(local_size_x = 64) in;
layout(binding = 2) writeonly buffer C { float result[]; };
void main() {
% for i = 1, 100000 do
  result[${i % 64}] = float(${i});
% end
}
