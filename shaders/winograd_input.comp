#version 450
% -- lua/winograd_plan.lua explains the words.
% local n, m, planar = s.n, s.n - 2, op.layout == "nchw"
% local matrix = s.groups * s.channels * s.tiles -- elements of one of the ${n * n} matrices
% local below, guarded = glsl.below, glsl.guarded
// V = B^T d B for each tile of ${n} x ${n} of the input and each channel.
% for _, name in ipairs(glsl.extensions(op.type)) do
#extension ${name} : require
% end

layout(local_size_x = ${threads}) in;

layout(std430, set = 0, binding = ${op.bindings.X}) restrict readonly buffer Inputs { ${glsl.vector(op.type, 1)} inputs[]; };
layout(std430, set = 0, binding = ${op.bindings.scratch}) restrict writeonly buffer Scratch { ${glsl.vector(winograd.element(op), 1)} scratch[]; };

void main()
{
    const uint index = (gl_WorkGroupID.y * ${launched[1]} + gl_WorkGroupID.x) * ${threads} + gl_LocalInvocationID.x;
% if planar then
    const uint tile = index % ${s.tiles}, channel = index / ${s.tiles};
% else
    const uint of_group = index / ${s.channels * s.tiles}, tile = index / ${s.channels} % ${s.tiles};
    const uint channel = of_group * ${s.channels} + index % ${s.channels};
% end
    if (tile >= ${s.count} || index >= ${matrix})
        return;
    const uint image = tile / ${s.rows * s.columns}, tile_in_image = tile % ${s.rows * s.columns};
% -- Above and left of the image these wrap to large numbers.
    const uint first_row = tile_in_image / ${s.columns} * ${m} - ${op.padding};
    const uint first_column = tile_in_image % ${s.columns} * ${m} - ${op.padding};
% local of_row, of_column = planar and op.width or op.width * op.in_channels, planar and 1 or op.in_channels
% if planar then
    const uint at = (image * ${op.in_channels} + channel) * ${op.height * op.width};
% else
    const uint at = image * ${op.height * op.width * op.in_channels} + channel;
% end
% local leaves_y = op.padding > 0 or s.rows * m + 2 > op.height
% local leaves_x = op.padding > 0 or s.columns * m + 2 > op.width
% for i = 0, n - 1 do
    const uint row_${i} = ${glsl.times(leaves_y and below(glsl.sum("first_row", i), op.height) or glsl.sum("first_row", i), of_row)};
    const uint column_${i} = ${glsl.times(leaves_x and below(glsl.sum("first_column", i), op.width) or glsl.sum("first_column", i), of_column)};
% end
% for i = 0, n - 1 do
%   for j = 0, n - 1 do
%     local inside = leaves_y and glsl.sum("first_row", i) .. " < " .. op.height or ""
%     if leaves_x then inside = inside .. (inside ~= "" and " && " or "") .. glsl.sum("first_column", j) .. " < " .. op.width end
%     local value = glsl.converted("inputs[at + row_" .. i .. " + column_" .. j .. "]", op.type, "f32", 1)
    const float x_${i}_${j} = ${inside == "" and value or guarded(inside, value, "f32", 1)};
%   end
% end
% local function element(i, j) return "x_" .. i .. "_" .. j end
% local function line(name, text)
    const float ${name} = ${text};
% end
% winograd.text(rule.input, n, element, line, function(i, j, text)
    scratch[${glsl.sum("index", s.of_input + (i * n + j) * matrix)}] = ${winograd.stored(op, s.n - 2, "input", text)};
% end)
}
