#version 450
#extension GL_EXT_control_flow_attributes : enable
layout(local_size_x = 64) in;
layout(binding = 2) buffer C { float result[]; };
void main() {
  float s = 0.0;
  [[unroll]] for (int i = 0; i < 2000000; i++) s += result[i % 64] * float(i);
  result[0] = s;
}
