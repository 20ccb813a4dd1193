#version 450
// Y = rows of ${#parts} matrices, one behind the other: ${grid.lines} lines of ${grid.columns} vectors of ${c.vector}.
% for _, name in ipairs(glsl.extensions(op.type)) do
#extension ${name} : require
% end

layout(local_size_x = ${grid.x}, local_size_y = ${grid.y}) in;

% for i, part in ipairs(parts) do
layout(std430, set = 0, binding = ${op.bindings[part.name]}) restrict readonly buffer Buffer${part.name} { ${stored} part_${i}[]; };
% end
layout(std430, set = 0, binding = ${op.bindings.Y}) restrict writeonly buffer BufferY { ${stored} whole[]; };

void move(uint line, uint column)
{
    if (line >= ${grid.lines}u || column >= ${grid.columns}u)
        return;
    const uint to = line * ${grid.columns}u + column;
% for i, part in ipairs(parts) do
%   local from = "part_" .. i .. "[line * " .. part.columns .. "u + (column - " .. part.first .. "u)]"
%   if i == 1 then
    if (column < ${part.columns}u)
%   elseif i < #parts then
    else if (column < ${part.first + part.columns}u)
%   else
    else
%   end
        whole[to] = ${from};
% end
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
