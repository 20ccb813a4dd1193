#version 450
layout(local_size_x = 64) in;
layout(binding = 2) writeonly buffer C { float result[]; };
void main() {
  switch (gl_LocalInvocationIndex) {
% for i = 1, 60000 do
  case ${i}: result[${i % 64}] = float(${i}); break;
% end
  }
}
