#version 450
% local p, product, result, op = plan, plan.product, plan.product.result, plan.product.op
% local n, element = result.widest, glsl.wide(op.type)
% local length = product.M // n
// The second pass of a split product: C is the sum of its ${p.parts} parts, ${n} neighbours an invocation.
% local last = epilogue.of(op, { sums = element, n = n, along_bias = result.bias == "columns" })
% for _, name in ipairs(glsl.extensions(op.type)) do
#extension ${name} : require
% end

layout(local_size_x = ${reduce_group[1]}, local_size_y = ${reduce_group[2]}) in;

% local stored, summed = glsl.vector(glsl.output(op), n), glsl.vector(element, n)
layout(std430, set = 0, binding = ${result.binding}) restrict writeonly buffer MatrixC { ${stored} matrix_c[]; };
layout(std430, set = 0, binding = ${op.bindings.scratch}) restrict readonly buffer Parts { ${summed} part[]; };
% if last.text ~= "" then
${last.text}
% end

void main()
{
    const uint row = gl_GlobalInvocationID.y, vector = gl_GlobalInvocationID.x, matrix = gl_WorkGroupID.z;
    if (row >= ${product.N} || vector >= ${length})
        return;
    const uint from = ${glsl.sum("(matrix * " .. p.parts * product.N .. " + row) * " .. length .. " + vector", text.origin_of_parts(p, n))};
    ${summed} sum = part[from];
% for i = 1, p.parts - 1 do
    sum += part[from + ${i * product.N * length}];
% end
% local row_at = glsl.sum(text.origin(p, result, n), glsl.times("row", result.pitch // n))
    const uint at = ${glsl.sum(row_at, text.column(p, "vector", n))};
    matrix_c[at] = ${last.call("sum", text.bias(p, "row", "vector", n), "at")};
}
