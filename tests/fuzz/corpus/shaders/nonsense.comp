#if A
#if (((((
#define X X X
#elif X+X*X/0
layout(layout(binding={push_constant)) buffer {
#else
#endif
#endif
#endif layout(constant_id=1) const uint