#version 450
// C[${plan.product.N},${plan.product.M}] = A B over ${plan.product.K}: tiles of ${plan.a.tile} x ${plan.b.tile} x ${plan.depth}, each held by a workgroup.
% -- lua/group_gemm.lua derives its sizes, lua/group_units.lua spells what is done with matrices.
% local p, product, u = plan, plan.product, plan.units
% local result, operands, whole = product.result, { plan.a, plan.b }, plan.parts == 1
% local sum, times = glsl.sum, glsl.times
% local output = whole and glsl.output(op) or glsl.wide(glsl.sums(op))
% local last = whole and epilogue.is_needed(op) and epilogue.of(op, { sums = glsl.sums(op), n = 1, along_bias = result.bias == "columns" })
% local extensions = {}
% local function need(names)
%   for _, name in ipairs(names) do
%     if not extensions[name] then
#extension ${name} : require
%     end
%     extensions[name] = true
%   end
% end
% need(glsl.extensions(op.type))
% need(u.extensions)
% if p.a.place.blocks then need { "GL_EXT_shader_16bit_storage", "GL_EXT_shader_explicit_arithmetic_types_int16" } end
${glsl.decoder(op.type)}
layout(local_size_x = ${p.threads}) in;

% for _, x in ipairs(operands) do
%   local block = string.upper(x.name)
layout(std430, set = 0, binding = ${x.place.binding}) restrict readonly buffer Matrix${block} { ${x.place.blocks and "uint16_t" or glsl.vector(op.type, 1)} matrix_${x.name}[]; };
% end
layout(std430, set = 0, binding = ${whole and result.binding or op.bindings.scratch}) restrict writeonly buffer MatrixC { ${glsl.vector(output, 1)} matrix_c[]; };
% if last then
${last.text}
% end

${u.globals()}
% if last or p.store == "elements" then
${text.finished_element(p, { last = last, stores = p.store == "elements" })}
% end

void main()
{
    ${text.tile(p)}
    const uint first_a = tile_row * ${p.a.tile}, first_b = tile_column * ${p.b.tile};
% local part = p.matrices == 1 and "gl_WorkGroupID.z" or glsl.modulo("gl_WorkGroupID.z", p.parts)
    uint k_tile = ${whole and "0" or times(part, p.depth * p.tiles)};
% if p.matrices > 1 then
    const uint matrix = ${text.matrix(p)};
%   for _, x in ipairs(operands) do
%     if not x.decoded and text.origin_name(p, x) ~= "0" then
    const uint ${text.origin_name(p, x)} = ${text.origin(p, x.place, 1)};
%     end
%   end
% end
    ${u.begin()}
    for (uint tile = 0; tile < ${p.tiles}; ++tile, k_tile += ${p.depth}) {
        ${u.load(p.a, "k_tile")}
        ${u.load(p.b, "k_tile")}
        ${u.multiply_add()}
    }
% if last or p.store == "elements" then
    ${u.become("finished_element", "first_a", "first_b")}
% end
% if p.store == "tensor" then
    ${u.store(output)}
% end
}
