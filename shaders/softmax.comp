#version 450
// Y = exp(X - largest of X) / sum of that, over rows of ${op.columns} elements; ${grid.x} invocations share a row.
% local vector, once, lowest = c.vector, c.reads == "once", "-3.402823466e38"
%
% -- The components of a vector, combined.
% local function folded(v, first, last, join)
%   local text = vector == 1 and v or v .. ".x"
%   for n = 2, vector do text = first .. text .. join .. v .. "." .. string.sub("xyzw", n, n) .. last end
%   return text
% end
% local function largest_of(v) return folded(v, "max(", ")", ", ") end
% local function sum_of(v) return folded(v, "", "", " + ") end
% for _, name in ipairs(glsl.extensions(op.type)) do
#extension ${name} : require
% end

layout(local_size_x = ${grid.x}, local_size_y = ${grid.y}) in;

layout(std430, set = 0, binding = ${op.bindings.X}) restrict readonly buffer BufferX { ${stored} buffer_x[]; };
layout(std430, set = 0, binding = ${op.bindings.Y}) restrict writeonly buffer BufferY { ${stored} buffer_y[]; };
% if grid.x > 1 then
shared float part[${grid.x * grid.y}];
%
% -- Tree reductions over the invocations of a row: every one gets the result. The first barrier keeps the last one's.
%   local function reduction(name, text)

float ${name}_of_row(float value)
{
    const uint at = gl_LocalInvocationID.y * ${grid.x}u + gl_LocalInvocationID.x;
    barrier();
    part[at] = value;
    barrier();
%     local half_way = grid.x // 2
%     while half_way > 0 do
    if (gl_LocalInvocationID.x < ${half_way}u)
        part[at] = ${text(half_way)};
    barrier();
%       half_way = half_way // 2
%     end
    return part[gl_LocalInvocationID.y * ${grid.x}u];
}
%   end
%   reduction("largest", function(n) return "max(part[at], part[at + " .. n .. "u])" end)
%   reduction("sum", function(n) return "part[at] + part[at + " .. n .. "u]" end)
% else
float largest_of_row(float value) { return value; }
float sum_of_row(float value) { return value; }
% end

void main()
{
    const uint block = gl_WorkGroupID.y * ${grid.groups[1]}u + gl_WorkGroupID.x;
    const uint row = block * ${grid.y}u + gl_LocalInvocationID.y;
    const uint start = row * ${grid.columns}u, first = start + gl_LocalInvocationID.x;
    const uint end = row < ${grid.lines}u ? start + ${grid.columns}u : 0u; // a row that is not there is empty
    ${number} largest = ${number}(${lowest}), sum = ${number}(0.0);
% if once then
    ${number} kept[${grid.steps}];
% end
%
% -- body(i) works on the vector i of this invocation, which lies at `at`.
% local function each(body)
%   if once then
%     for i = 0, grid.steps - 1 do
    {
        const uint at = first + ${i * grid.x}u;
        if (at < end) {
%       body(i)
        }
    }
%     end
%   else
    for (uint at = first; at < end; at += ${grid.x}u) {
%     body()
    }
%   end
% end
% if c.reads == "twice" then
%   each(function()
        const ${number} x = ${number}(buffer_x[at]), next = max(largest, x);
        sum = sum * exp(largest - next) + exp(x - next);
        largest = next;
%   end)
    const float top = largest_of_row(${largest_of("largest")});
    sum *= exp(largest - top);
% else
%   each(function(i)
%     if once then
            kept[${i}] = ${number}(buffer_x[at]);
            largest = max(largest, kept[${i}]);
%     else
        largest = max(largest, ${number}(buffer_x[at]));
%     end
%   end)
    const float top = largest_of_row(${largest_of("largest")});
%   each(function(i)
%     if once then
            kept[${i}] = exp(kept[${i}] - top);
            sum += kept[${i}];
%     else
        sum += exp(${number}(buffer_x[at]) - top);
%     end
%   end)
% end
    const float whole = sum_of_row(${sum_of("sum")});
% each(function(i)
%   if once then
            buffer_y[at] = ${stored}(kept[${i}] / whole);
%   else
        buffer_y[at] = ${stored}(exp(${number}(buffer_x[at]) - top) / whole);
%   end
% end)
}
