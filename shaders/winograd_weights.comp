#version 450
% -- lua/winograd_plan.lua explains the words.
% local n, rule, planar = s.n, rule, op.layout == "nchw"
% local matrix = s.groups * s.channels * s.all_filters -- elements of one of the ${n * n} matrices
// U = G g G^T for each filter and channel: weights of ${op.kernel_h} x ${op.kernel_w} become ${n} x ${n}.
% for _, name in ipairs(glsl.extensions(op.type)) do
#extension ${name} : require
% end

layout(local_size_x = ${threads}) in;

layout(std430, set = 0, binding = ${op.bindings.W}) restrict readonly buffer Weights { ${glsl.vector(op.type, 1)} weights[]; };
layout(std430, set = 0, binding = ${op.bindings.scratch}) restrict writeonly buffer Scratch { ${glsl.vector(winograd.element(op), 1)} scratch[]; };

void main()
{
    const uint index = (gl_WorkGroupID.y * ${launched[1]} + gl_WorkGroupID.x) * ${threads} + gl_LocalInvocationID.x;
    const uint filter_of_group = index % ${s.all_filters}, channel_of_all = index / ${s.all_filters};
    if (filter_of_group >= ${s.filters} || channel_of_all >= ${s.groups * s.channels})
        return;
    const uint group = channel_of_all / ${s.channels}, channel = channel_of_all % ${s.channels};
    const uint filter_of_all = group * ${s.filters} + filter_of_group;
% local taps = 9
% if planar then
    const uint at = (filter_of_all * ${s.channels} + channel) * ${taps};
% else
    const uint at = filter_of_all * ${taps * s.channels} + channel;
% end
% for i = 0, 2 do
%   for j = 0, 2 do
    const float x_${i}_${j} = ${glsl.converted("weights[" .. glsl.sum("at", (3 * i + j) * (planar and 1 or s.channels)) .. "]", op.type, "f32", 1)};
%   end
% end
% local function element(i, j) return "x_" .. i .. "_" .. j end
% local function line(name, text)
    const float ${name} = ${text};
% end
% winograd.text(rule.weights, 3, element, line, function(i, j, text)
    scratch[${glsl.sum("index", (i * n + j) * matrix)}] = ${winograd.stored(op, s.n - 2, "weights", text)};
% end)
}
