#version 450
#extension GL_GOOGLE_include_directive : enable
#include "/etc/passwd"
#include "../secret"
void main() {}
