// Counts how often each expert is chosen.
#version 450
layout(local_size_x = 64) in;
layout(std430, binding = ${op.bindings.IDS}) restrict readonly buffer Ids { int ids[]; };
layout(std430, binding = ${op.bindings.scratch}) restrict writeonly buffer Counts { uint counts[]; };

void main()
{
    for (uint expert = gl_LocalInvocationID.x; expert < ${count}; expert += 64) {
        uint n = 0;
        for (uint i = 0; i < ${N * used}; i++)
            n += uint(ids[i] == int(expert));
        counts[expert] = n;
    }
}
