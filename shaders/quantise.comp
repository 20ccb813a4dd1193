#version 450
% -- lua/quads.lua says what runs are, and in what order they lie.
% local op, sum, times, over, modulo = product.op, glsl.sum, glsl.times, glsl.over, glsl.modulo
% local b, M, K = product.b, product.M, product.K // 32
// Quantises B[${product.K},${M}] in runs of 32 numbers along K: signed bytes q, and d = max |B| / 127 and the sum of d q as two f16.
% for _, name in ipairs(glsl.extensions(op.type)) do
#extension ${name} : require
% end

layout(local_size_x = ${8 * group}) in; // eight for each of ${group} runs
layout(std430, set = 0, binding = ${b.binding}) restrict readonly buffer MatrixB { ${glsl.vector(op.type, 1)} matrix_b[]; };
layout(std430, set = 0, binding = ${op.bindings.scratch}) restrict writeonly buffer Runs { uint word[]; };

shared float largest[${8 * group}];
shared int total[${8 * group}];

void main()
{
    const uint thread = gl_LocalInvocationID.x, first = (gl_WorkGroupID.y * ${launched[1]} + gl_WorkGroupID.x) * ${group};
% -- Neighbours read neighbours: of a run, or of different columns.
% local of_run, of_group = b.along_k and "thread % 8" or over("thread", group), b.along_k and "thread / 8" or modulo("thread", group)
    const uint part = ${of_run}, group = ${of_group}, at = first + group, run = min(at, ${runs - 1});
% local column, along_k = b.along_k and over("run", K) or modulo("run", M), b.along_k and modulo("run", K) or over("run", M)
    const uint column = ${column}, k = ${along_k};
% local from, apart_by = b.along_k and "column * " .. b.pitch .. " + k * 32 + part * 4" or "(k * 32 + part * 4) * " .. b.pitch .. " + column", b.along_k and 1 or b.pitch
    const uint from = ${from};
    const vec4 x = vec4(matrix_b[from], matrix_b[${sum("from", apart_by)}], matrix_b[${sum("from", 2 * apart_by)}], matrix_b[${sum("from", 3 * apart_by)}]);
    const vec4 size = abs(x);
    largest[group * 8 + part] = max(max(size.x, size.y), max(size.z, size.w));
    barrier();
    float most = 0.0;
    for (uint i = 0; i < 8; i++)
        most = max(most, largest[group * 8 + i]);
    const float scale = unpackHalf2x16(packHalf2x16(vec2(most / 127.0, 0.0))).x;
    const ivec4 q = ivec4(clamp(roundEven(x * (scale > 0.0 ? 1.0 / scale : 0.0)), vec4(-127.0), vec4(127.0)));
    total[group * 8 + part] = q.x + q.y + q.z + q.w;
    barrier();
    if (at < ${runs}) {
        const uvec4 bytes = uvec4(q) & 255u;
% local bytes_at = apart and sum(times(sum(times("column", K), "k"), 8), "part") or sum(times(sum(times("column", K), "k"), 9), "part", 1)
        word[${bytes_at}] = bytes.x | bytes.y << 8 | bytes.z << 16 | bytes.w << 24;
        if (part == 0) {
            int of_run = 0;
            for (uint i = 0; i < 8; i++)
                of_run += total[group * 8 + i];
% local scale_at = apart and sum(times("column", K), "k", scales) or times(sum(times("column", K), "k"), 9)
            word[${scale_at}] = packHalf2x16(vec2(scale, scale * float(of_run)));
        }
    }
}
