#version 450
/* somebody's */ #extension GL_EXT_control_flow_attributes : enable
#if !defined(GUARD) && (SIZE + 1) * 2 >= 4 // all asked
#define GUARD
#endif
#ifndef LOAD
#define LOAD 1
#endif
#define offset_of 6
#include "types.glsl"
layout(local_size_x_id = 0, local_size_y = 1, local_size_z_id = 235) in;
layout (constant_id = 0) const uint BLOCK = 64;
layout (constant_id = offset_of + 1) const int end = 0;
layout (constant_id = UNKNOWN) const float f = 0.5;
#ifdef MATRIX
layout (constant_id = 9) const bool only = false;
#else
layout (constant_id = 9) const bool always = false;
#endif
layout (binding = 0) readonly buffer A {A_TYPE a[];};
layout (binding = 0) readonly buffer A2 {A_VEC2 a2[];};
layout (set = 0, binding = 2) restrict writeonly buffer C {D_TYPE c[];};
layout (set = 1, binding = 0) uniform U { vec4 u; };
layout (push_constant) uniform P { uint n, m; layout(offset = 16) vec3 v;
#if defined(MATRIX) || defined GUARD
  float16_t x;
#elif LOAD == 2
  int y[4];
#endif
} p;
shared local kept[2]; // a word of Lua
shared FLOAT s[BLOCK * 2];
FLOAT load(uint i) { return FLOAT(psc(a[i])) \
  * 2; }
void main() { c[gl_GlobalInvocationID.x] = load(1u); }
