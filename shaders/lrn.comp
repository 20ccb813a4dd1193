#version 450
// Y = X / (bias_k + alpha / window * sum of X^2 over ${op.window} channels)^beta.
% local nchw, before = op.layout == "nchw", (op.window - 1) // 2
% for _, name in ipairs(glsl.extensions(op.type)) do
#extension ${name} : require
% end

layout(local_size_x = ${grid.x}, local_size_y = ${grid.y}) in;

layout(std430, set = 0, binding = ${op.bindings.X}) restrict readonly buffer BufferX { ${stored} buffer_x[]; };
layout(std430, set = 0, binding = ${op.bindings.Y}) restrict writeonly buffer BufferY { ${stored} buffer_y[]; };

void normalise(uint line, uint column)
{
    if (line >= ${grid.lines}u || column >= ${grid.columns}u)
        return;
    const uint at = line * ${grid.columns}u + column;
    const int channel = int(${nchw and "line % " .. op.channels .. "u" or "column"});
    ${number} sum = ${number}(0.0);
% local function add(i)
        if (uint(channel + ${i} - ${before}) < ${op.channels}u) {
            const ${number} x = ${number}(buffer_x[int(at) + (${i} - ${before}) * ${nchw and grid.columns or 1}]);
            sum += x * x;
        }
% end
% if c.unroll == "yes" then
%   for i = 0, op.window - 1 do add(i) end
% else
    for (int i = 0; i < ${op.window}; i++)
%   add("i")
% end
    const ${number} base = ${glsl.literal("f32", op.bias_k)} + ${glsl.literal("f32", op.alpha / op.window)} * sum;
    buffer_y[at] = ${stored}(${number}(buffer_x[at]) * pow(base, ${number}(${glsl.literal("f32", -op.beta)})));
}

void main()
{
    const uint block = gl_WorkGroupID.y * ${grid.groups[1]}u + gl_WorkGroupID.x;
    const uint line = block / ${grid.blocks}u * ${grid.y}u + gl_LocalInvocationID.y;
    const uint first = block % ${grid.blocks}u * ${grid.width}u + gl_LocalInvocationID.x;
% for i = 0, grid.each - 1 do
    normalise(line, first + ${i * grid.x}u);
% end
}
