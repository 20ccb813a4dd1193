#version 450
// Y[i,j,k,l] = X[${op.offset} + i * ${op.s1} + j * ${op.s2} + k * ${op.s3} + l * ${op.s4}]
% for _, name in ipairs(glsl.extensions(op.type)) do
#extension ${name} : require
% end

layout(local_size_x = ${grid.x}, local_size_y = ${grid.y}) in;

layout(std430, set = 0, binding = ${op.bindings.X}) restrict readonly buffer BufferX { ${stored} buffer_x[]; };
layout(std430, set = 0, binding = ${op.bindings.Y}) restrict writeonly buffer BufferY { ${stored} buffer_y[]; };

void move(uint line, uint column)
{
    if (line >= ${grid.lines}u || column >= ${grid.columns}u)
        return;
    const uint i = line / ${op.n2 * op.n3}u, j = line / ${op.n3}u % ${op.n2}u, k = line % ${op.n3}u;
    const uint from = ${op.offset // c.vector}u + i * ${op.s1 // c.vector}u + j * ${op.s2 // c.vector}u + k * ${op.s3 // c.vector}u;
    buffer_y[line * ${grid.columns}u + column] = buffer_x[from + column * ${op.s4}u];
}

void main()
{
    const uint block = gl_WorkGroupID.y * ${grid.groups[1]}u + gl_WorkGroupID.x;
    const uint line = block / ${grid.blocks}u * ${grid.y}u + gl_LocalInvocationID.y;
    const uint first = block % ${grid.blocks}u * ${grid.width}u + gl_LocalInvocationID.x;
% for i = 0, grid.each - 1 do
    move(line, first + ${i * grid.x}u);
% end
}
