#version 450
// The second pass of a split product: C is the sum of its ${parts} parts, ${vector} neighbours an invocation.
% local half = op.type == "f16"
% local number = vector == 1 and "float" or "vec" .. vector
% local stored = half and (vector == 1 and "float16_t" or "f16vec" .. vector) or number
% local length = M // vector
% if half then
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
% end

layout(local_size_x = ${group[1]}, local_size_y = ${group[2]}) in;

layout(std430, set = 0, binding = ${op.bindings.C}) restrict writeonly buffer MatrixC { ${stored} matrix_c[]; };
layout(std430, set = 0, binding = ${op.bindings.scratch}) restrict readonly buffer Parts { ${number} part[]; };

void main()
{
    const uint row = gl_GlobalInvocationID.y, column = gl_GlobalInvocationID.x;
    if (row >= ${N} || column >= ${length})
        return;
    const uint at = row * ${length} + column;
    ${number} sum = part[at];
% for i = 1, parts - 1 do
    sum += part[at + ${i * N * length}];
% end
    matrix_c[at] = ${stored}(sum);
}
