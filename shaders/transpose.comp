#version 450
// Y[${op.columns},${op.rows}] is X[${op.rows},${op.columns}] transposed, in tiles of ${plan.rows} x ${plan.columns} elements.
% local shared = c.stage == "shared"
% for _, name in ipairs(glsl.extensions(op.type)) do
#extension ${name} : require
% end

layout(local_size_x = ${c.invocations}) in;

layout(std430, set = 0, binding = ${op.bindings.X}) restrict readonly buffer BufferX { ${plan.stored} buffer_x[]; };
layout(std430, set = 0, binding = ${op.bindings.Y}) restrict writeonly buffer BufferY { ${plan.stored} buffer_y[]; };
% if shared then
shared ${plan.stored} tile[${plan.rows * plan.pitch}];
% end

void main()
{
    const uint block = gl_WorkGroupID.y * ${plan.groups[1]}u + gl_WorkGroupID.x;
    const uint first_row = block / ${plan.across}u * ${plan.rows}u, first_column = block % ${plan.across}u * ${plan.columns}u;
% if shared then
% for i = 0, plan.each - 1 do
    {
        const uint at = gl_LocalInvocationIndex + ${i * c.invocations}u, row = at / ${plan.columns}u, column = at % ${plan.columns}u;
        if (first_row + row < ${op.rows}u && first_column + column < ${op.columns}u)
            tile[row * ${plan.pitch}u + column] = buffer_x[(first_row + row) * ${op.columns}u + first_column + column];
    }
% end
    barrier();
% end
% for i = 0, plan.each - 1 do
    {
        const uint at = gl_LocalInvocationIndex + ${i * c.invocations}u, row = at % ${plan.rows}u, column = at / ${plan.rows}u;
        if (first_row + row < ${op.rows}u && first_column + column < ${op.columns}u)
            buffer_y[(first_column + column) * ${op.rows}u + first_row + row] =
%   if shared then
                tile[row * ${plan.pitch}u + column];
%   else
                buffer_x[(first_row + row) * ${op.columns}u + first_column + column];
%   end
    }
% end
}
