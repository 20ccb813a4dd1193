#version 450
% -- The second pass of attention.comp with several parts: each has its sum of weights by its own largest score.
% local p, op, v = plan, plan.op, plan.vector
% local rows, row, n = p.matrices * p.all_lines, plan.op.dim // plan.vector, p.o_vector
// O of ${p.parts} parts, ${v} neighbours an invocation.
% for _, name in ipairs(glsl.extensions(p.output)) do
#extension ${name} : require
% end

layout(local_size_x = ${join_group}) in;

layout(std430, set = 0, binding = ${op.bindings.scratch}) restrict readonly buffer Parts { float part[]; };
layout(std430, set = 0, binding = ${op.bindings.O}) restrict writeonly buffer BufferO { ${glsl.vector(p.output, n)} buffer_o[]; };

void main()
{
    const uint at = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * ${join_group} + gl_LocalInvocationIndex;
    if (at >= ${rows * row})
        return;
    const uint row = at / ${row}, d = at % ${row}, matrix = row / ${p.all_lines}, line = row % ${p.all_lines};
    float top = part[${rows * op.dim * p.parts} + row * 2];
% for i = 1, p.parts - 1 do
    top = max(top, part[${rows * (op.dim * p.parts + i * 2)} + row * 2]);
% end
    float whole = 0.0;
% for e = 0, v - 1 do
    float o_${e} = 0.0;
% end
% for i = 0, p.parts - 1 do
    {
        const uint of_part = ${rows * (op.dim * p.parts + i * 2)} + row * 2, from = ${i * rows * op.dim} + row * ${op.dim} + d * ${v};
        const float factor = exp2(part[of_part] - top);
        whole += part[of_part + 1] * factor;
%   for e = 0, v - 1 do
        o_${e} += part[from + ${e}] * factor;
%   end
    }
% end
    const uint to = (${glsl.sum(attention.origin(p, p.place.lines), attention.row_of(p, "line"))}) * ${op.dim // n} + d * ${v // n};
% if n == 1 then
%   for e = 0, v - 1 do
    buffer_o[to + ${e}] = ${glsl.converted("o_" .. e .. " / whole", "f32", p.output, 1)};
%   end
% else
%   local all = {}
%   for e = 0, v - 1 do all[#all + 1] = "o_" .. e end
    buffer_o[to] = ${glsl.converted(glsl.vector("f32", n) .. "(" .. table.concat(all, ", ") .. ") / whole", "f32", p.output, n)};
% end
}
