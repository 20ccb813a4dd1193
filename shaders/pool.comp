#version 450
// ${op.kind}: windows of ${op.window} x ${op.window}, ${op.stride} apart, in images of ${op.height} x ${op.width}.
% local nchw, largest = op.layout == "nchw", op.kind == "max_pool"
% local window, unroll = op.window, c.unroll
% for _, name in ipairs(glsl.extensions(op.type)) do
#extension ${name} : require
% end

layout(local_size_x = ${grid.x}, local_size_y = ${grid.y}) in;

layout(std430, set = 0, binding = ${op.bindings.X}) restrict readonly buffer BufferX { ${stored} buffer_x[]; };
layout(std430, set = 0, binding = ${op.bindings.Y}) restrict writeonly buffer BufferY { ${stored} buffer_y[]; };

// An element of the image whose ${nchw and "plane" or "number"} it is; outside of it there is none.
% if nchw then
#define AT(image, y, x, channel) (((image) * ${op.height}u + (y)) * ${op.width}u + (x))
% else
#define AT(image, y, x, channel) ((((image) * ${op.height}u + (y)) * ${op.width}u + (x)) * ${grid.columns}u + (channel))
% end

void pool(uint line, uint column)
{
    if (line >= ${grid.lines}u || column >= ${grid.columns}u)
        return;
% if nchw then
    const uint image = line / ${op.out_height}u, channel = 0u;
    const uint out_y = line % ${op.out_height}u, out_x = column;
% else
    const uint image = line / ${op.out_height * op.out_width}u, channel = column;
    const uint out_y = line / ${op.out_width}u % ${op.out_height}u, out_x = line % ${op.out_width}u;
% end
    const int top = int(out_y * ${op.stride}u) - ${op.padding}, left = int(out_x * ${op.stride}u) - ${op.padding};
    ${number} value = ${number}(${largest and "-3.402823466e38" or "0.0"});
% local function add(y, x)
        if (uint(left + ${x}) < ${op.width}u)
%   if largest then
            value = max(value, ${number}(buffer_x[AT(image, uint(top + ${y}), uint(left + ${x}), channel)]));
%   else
            value += ${number}(buffer_x[AT(image, uint(top + ${y}), uint(left + ${x}), channel)]);
%   end
% end
% local function row(y)
    if (uint(top + ${y}) < ${op.height}u) {
%   if unroll == "none" then
        for (int x = 0; x < ${window}; x++)
%     add(y, "x")
%   else
%     for x = 0, window - 1 do add(y, x) end
%   end
    }
% end
% if unroll == "window" then
%   for y = 0, window - 1 do row(y) end
% else
    for (int y = 0; y < ${window}; y++)
%   row("y")
% end
% if not largest then
%   if op.divisor == "inside" then
    const int high = min(top + ${window}, ${op.height}) - max(top, 0), wide = min(left + ${window}, ${op.width}) - max(left, 0);
    value /= float(high * wide);
%   else
    value /= ${window * window}.0;
%   end
% end
    buffer_y[line * ${grid.columns}u + column] = ${stored}(value);
}

void main()
{
    const uint block = gl_WorkGroupID.y * ${grid.groups[1]}u + gl_WorkGroupID.x;
    const uint line = block / ${grid.blocks}u * ${grid.y}u + gl_LocalInvocationID.y;
    const uint first = block % ${grid.blocks}u * ${grid.width}u + gl_LocalInvocationID.x;
% for i = 0, grid.each - 1 do
    pool(line, first + ${i * grid.x}u);
% end
}
