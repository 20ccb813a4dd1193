#version 450
% -- lua/winograd_plan.lua explains the words.
% local n, m, planar = s.n, s.n - 2, op.layout == "nchw"
% local scaled = rule.denominator * winograd.factor(op, m, "weights") * winograd.factor(op, m, "input")
% local matrix = s.groups * s.all_filters * s.tiles -- elements of one of the ${n * n} matrices
// Y = A^T M A for each tile of ${m} x ${m} of the output and each filter.
% local finish = epilogue.of(op, { sums = "f32", n = 1, along_bias = true })
% for _, name in ipairs(glsl.extensions(op.type)) do
#extension ${name} : require
% end

layout(local_size_x = ${threads}) in;

layout(std430, set = 0, binding = ${op.bindings.scratch}) restrict readonly buffer Scratch { float scratch[]; };
layout(std430, set = 0, binding = ${op.bindings.Y}) restrict writeonly buffer Outputs { ${glsl.vector(op.type, 1)} outputs[]; };
${finish.text}

void main()
{
    const uint index = (gl_WorkGroupID.y * ${launched[1]} + gl_WorkGroupID.x) * ${threads} + gl_LocalInvocationID.x;
% if planar then
    const uint tile = index % ${s.tiles}, filter_of_group = index / ${s.tiles} % ${s.all_filters};
    const uint group = index / ${s.tiles * s.all_filters};
% else
    const uint filter_of_group = index % ${s.all_filters}, tile = index / ${s.all_filters} % ${s.tiles};
    const uint group = index / ${s.tiles * s.all_filters};
% end
    if (tile >= ${s.count} || filter_of_group >= ${s.filters} || index >= ${matrix})
        return;
    const uint channel = group * ${s.filters} + filter_of_group;
    const uint image = tile / ${s.rows * s.columns}, tile_in_image = tile % ${s.rows * s.columns};
    const uint row = tile_in_image / ${s.columns} * ${m}, column = tile_in_image % ${s.columns} * ${m};
% for i = 0, n - 1 do
%   for j = 0, n - 1 do
    const float x_${i}_${j} = scratch[${glsl.sum("index", s.of_output + (i * n + j) * matrix)}];
%   end
% end
% local of_row, of_column = planar and op.out_width or op.out_width * op.out_channels, planar and 1 or op.out_channels
% if planar then
    const uint at = (image * ${op.out_channels} + channel) * ${op.out_height * op.out_width} + row * ${of_row} + column;
% else
    const uint at = ((image * ${op.out_height} + row) * ${op.out_width} + column) * ${op.out_channels} + channel;
% end
% local function element(i, j) return "x_" .. i .. "_" .. j end
% local function line(name, text)
    const float ${name} = ${text};
% end
% -- What is whole stays whole: no addition behind it is fused with the division.
% winograd.text(rule.output, n, element, line, function(i, j, text)
%   local guards = {}
%   if op.out_height % m ~= 0 and i > 0 then guards[1] = glsl.sum("row", i) .. " < " .. op.out_height end
%   if op.out_width % m ~= 0 and j > 0 then guards[#guards + 1] = glsl.sum("column", j) .. " < " .. op.out_width end
    ${guards[1] and "if (" .. table.concat(guards, " && ") .. ") " or ""}{
        precise float sum = (${text}) * ${1 / scaled};
%   local to = glsl.sum("at", i * of_row + j * of_column)
        outputs[${to}] = ${finish.call("sum", "channel", to)};
    }
% end)
}
