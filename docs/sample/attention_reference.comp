#version 450
// The same, slowly and plainly: one invocation a query, three sweeps over the keys.
layout(local_size_x = 16) in;

layout(std430, binding = ${op.bindings.Q}) restrict readonly buffer Queries { float queries[]; };
layout(std430, binding = ${op.bindings.K}) restrict readonly buffer Keys { float keys[]; };
layout(std430, binding = ${op.bindings.P}) restrict writeonly buffer Scores { float scores[]; };

#define head gl_WorkGroupID.y
#define row gl_GlobalInvocationID.x

float score(uint column)
{
    float sum = 0.0;
    for (uint d = 0; d < ${D}; d++)
        sum += queries[(head * ${N} + row) * ${D} + d] * keys[(head * ${M} + column) * ${D} + d];
    return sum / sqrt(float(${D}));
}

void main()
{
    if (row >= ${N})
        return;
    float largest = score(0), sum = 0.0;
    for (uint column = 1; column < ${M}; column++)
        largest = max(largest, score(column));
    for (uint column = 0; column < ${M}; column++)
        sum += exp(score(column) - largest);
    for (uint column = 0; column < ${M}; column++)
        scores[(head * ${N} + row) * ${M} + column] = exp(score(column) - largest) / sum;
}
