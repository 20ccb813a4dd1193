#version 450
% -- One kernel for every schedule; lua/skinny.lua derives its sizes and explains the words. `long` is the matrix, `few`
% -- the operand with few lines.
% local p, op, product, result = plan, plan.product.op, plan.product, plan.product.result
% local long, few, parts, width = p.long, p.few, p.parts, p.chunk -- sums are vectors of `width` lines
% local sums, wide = glsl.sums(op), glsl.wide(glsl.sums(op))
% local sum, times, over, components = glsl.sum, glsl.times, glsl.over, glsl.components
% local whole = parts == 1
% local last = epilogue.of(op, { sums = wide, n = 1, along_bias = true })
% local function binding(number) return "std430, set = 0, binding = " .. number end
% local function stored(n) return glsl.vector(op.type, n) end
% local function number(n) return glsl.vector(sums, n) end
% local format, packed = long.place.blocks, long.place.packed -- what reads them gives floats, or words of bytes
% local function read_long(at)
%   return format and (packed and "words_long(" or "weights_long(") .. at .. ")" or "matrix_long[" .. at .. "]"
% end
% local factors = packed and "word" or sums
// C[${product.N},${product.M}] = A B over ${product.K}${p.matrices > 1 and ", " .. p.matrices .. " times" or ""}:
// ${long.tile} lines of ${long.name:upper()} a workgroup, ${p.count} an invocation; ${p.along_k} invocations share K.
% for _, name in ipairs(glsl.extensions(op.type)) do
#extension ${name} : require
% end
% if format and op.type ~= "f16" then
#extension GL_EXT_shader_16bit_storage : require
% end
% for _, name in ipairs(packed and glsl.dot_extensions() or {}) do
#extension ${name} : require
% end
% if p.in_subgroup then
#extension GL_KHR_shader_subgroup_${p.along_k % p.subgroup == 0 and "arithmetic" or "shuffle"} : require
% end
${glsl.decoder(op.type)}
layout(local_size_x = ${invocations[1]}, local_size_y = ${invocations[2]}) in;

% local output = whole and glsl.output(op) or wide
layout(${binding(long.place.binding)}) restrict readonly buffer Matrix { ${format and "uint16_t" or stored(p.vector)} matrix_long[]; };
layout(${binding(few.place.binding)}) restrict readonly buffer Few { ${packed and glsl.vector("word", p.few_vector) or stored(p.few_vector)} matrix_few[]; };
% if packed then
layout(${binding(few.place.binding)}) restrict readonly buffer Scales { uint scales_few[]; };
% end
layout(${binding(whole and result.binding or op.bindings.scratch)}) restrict writeonly buffer MatrixC { ${glsl.vector(output, 1)} matrix_c[]; };
% if whole and last.text ~= "" then
${last.text}
% end
% if format then

${packed and formats.packed_reader(format, "long") or formats.reader(format, "long", p.vector)}
% end
% if packed then
${formats.words("long", p.vector, function(at) return "bytes_long(" .. at .. ")" end)}

${glsl.dot_of_bytes()}
% end
% if p.partials > 1 then
shared ${glsl.vector(wide, width)} part[${p.lines * p.partials * p.lanes}]; // of ${p.count} lines, ${p.partials} along K, of each of ${p.lanes} lanes
% end
%
% -- Line i of an invocation, in vectors: those of a lane lie `lanes` apart.
% local function line(i) return sum("first", times("lane", width), i * p.lanes * width) end
% local function is_there(i) return line(i) .. " < " .. long.lines end
%
% -- Elements ----------------------------------------------------------------------------------------------------------
%
% -- Where element e of what a lane takes before the loop turns lies along K, from the first one. `at` counts vectors
% -- along K where the matrix has such.
% local function k_of(e) return long.along_k and e // p.vector * p.along_k * p.vector + e % p.vector or e end
% local loaded
%
% -- Text of element e of line i of the matrix, `width` lines at once; what it is in is loaded when first asked for.
% local function of_long(i, e)
%   local vector = long.along_k and e // p.vector or e
%   local name = "m_" .. i .. "_" .. vector
%   if not loaded[name] then
%     loaded[name] = true
%     local at = long.along_k and sum("at", vector * p.along_k) or times(sum("at", e), long.place.pitch // p.vector)
%     local from = packed and "word" or format and "f32" or op.type
            const ${glsl.vector(factors, p.vector)} ${name} = ${glsl.converted(read_long(sum("line_" .. i, at)), from, factors, p.vector)};
%   end
%   return long.along_k and components(name, p.vector, e % p.vector, 1) or name
% end
%
% -- Text of element e of line f of the few.
% local function of_few(f, e)
%   local n, pitch = p.few_vector, few.place.pitch
%   local first, place, key = e // n * n, e % n, f .. "_" .. e // n
%   local at = sum(p.k_vector % n == 0 and times("at", p.k_vector // n) or over("at", n), k_of(first) // n + f * pitch // n)
%   if not few.along_k then
%     place, key = f % n, f // n .. "_" .. e
%     at = sum(times("at", p.k_vector * pitch // n), k_of(e) * pitch // n + f // n)
%   end
%   local name = "x_" .. key
%   if not loaded[name] then
%     loaded[name] = true
            const ${glsl.vector(factors, n)} ${name} = ${glsl.converted("matrix_few[" .. sum("origin_few", at) .. "]", packed and "word" or op.type, factors, n)};
%   end
%   return components(name, n, place, 1)
% end
%
% -- The same of A in blocks, with B as q8_1: dot products of a vector's words, which lie within a run, as whole numbers, and
% -- then their scales. The minimum of a run is multiplied by whoever has its first word.
% local function packed_products(elements)
%   loaded = {}
%   for e = 0, elements - 1, p.vector do
%     local vector = sum("at", e // p.vector * p.along_k)
%     for f = 0, few.lines - 1 do
%       local run = over(times(vector, p.vector), 8)
            const vec2 scale_x_${f}_${e} = unpackHalf2x16(scales_few[${sum(run, few.place.scales + f * product.K // 8)}]);
%     end
%     for i = 0, p.lines - 1 do
            const vec2 scale_m_${i}_${e} = scale_long(${times(sum("line_" .. i, vector), 4 * p.vector)});
%       for f = 0, few.lines - 1 do
%         local dots = {}
%         for word = e, e + p.vector - 1 do
%           local of_matrix, of_vector = of_long(i, word), of_few(f, word)
%           dots[#dots + 1] = "dot_of_bytes(" .. of_matrix .. ", " .. of_vector .. ", 0)"
%         end
%         local minimum = ""
%         if formats.has_minimum(format) then
%           local is_first = glsl.modulo(times(vector, p.vector), 8) .. " == 0"
%           minimum = " - scale_m_" .. i .. "_" .. e .. ".y * (" .. is_first .. " ? scale_x_" .. f .. "_" .. e .. ".y : 0.0)"
%         end
            sum_${i}_${f} += scale_m_${i}_${e}.x * scale_x_${f}_${e}.x * float(${table.concat(dots, " + ")})${minimum};
%       end
%     end
%   end
% end
%
% -- The products of the first `elements` that a lane takes.
% local function products(elements)
%   if packed then return packed_products(elements) end
%   loaded = {}
%   for e = 0, elements - 1 do
%     for i = 0, p.lines - 1 do
%       for f = 0, few.lines - 1 do
%         local of_matrix, of_vector = of_long(i, e), of_few(f, e)
            sum_${i}_${f} += ${of_matrix} * ${of_vector};
%       end
%     end
%   end
% end
%
% -- Constants of an invocation ---------------------------------------------------------------------------------------
%
% local function origin(x, vector) return text.origin(p, x.place, vector) end

void main()
{
% local at_k, at_lane = long.along_k and "x" or "y", long.along_k and "y" or "x"
    const uint lane_k = ${p.along_k == 1 and "0" or "gl_LocalInvocationID." .. at_k};
    const uint lane = ${p.lanes == 1 and "0" or "gl_LocalInvocationID." .. at_lane};
    const uint first = gl_WorkGroupID.x * ${long.tile};
% if p.matrices > 1 then
    const uint matrix = ${text.matrix(p)};
% end
    const uint origin_few = ${origin(few, p.few_vector)};
% for i = 0, p.lines - 1 do
%   local here = line(i)
%   if not p.exact then here = "min(" .. here .. ", " .. long.lines - width .. ")" end
%   local at = long.along_k and times(here, long.place.pitch // p.vector) or over(here, width)
    const uint line_${i} = ${sum(origin(long, p.vector), at)};
%   for f = 0, few.lines - 1 do
    ${number(width)} sum_${i}_${f} = ${number(width)}(0);
%   end
% end

% -- `at` counts what a lane takes at once.
% local span, end_k = p.span // p.k_vector, product.K // p.k_vector
% local part = p.matrices == 1 and "gl_WorkGroupID.z" or glsl.modulo("gl_WorkGroupID.z", parts)
    const uint begin = ${whole and "0" or times(part, span)};
% local stop = p.exact_k and sum("begin", span) or whole and end_k or "min(begin + " .. span .. ", " .. end_k .. ")"
    const uint end = ${stop};
% if long.along_k then
    uint at = begin + lane_k;
%   local ahead = (p.unroll - 1) * p.along_k
    for (; ${sum("at", ahead)} < end; at += ${p.along_k * p.unroll}) {
%   products(p.k_step)
    }
%   if p.unroll > 1 and not p.exact_k then
    for (; at < end; at += ${p.along_k}) {
%     products(p.vector)
    }
%   end
% else
    for (uint at = ${sum("begin", times("lane_k", p.unroll))}; at < end; at += ${p.along_k * p.unroll}) {
%   products(p.unroll)
    }
% end

% -- The result ---------------------------------------------------------------------------------------------------------
%
% -- Stores component j of line i, of line f of the few.
% local origin_c = whole and text.origin(p, result, 1) or text.origin_of_parts(p, 1)
% local function store(i, f, value)
%   for j = 0, width - 1 do
%     local of_long = sum(line(i), j)
%     local row, column = long.name == "a" and of_long or f, long.name == "a" and f or of_long
%     local pitch = whole and result.pitch or product.M
%     local from_row = type(row) == "number" and row or glsl.bracketed(row)
%     local c_row = whole and row or sum(times(text.part(p), product.N), row)
%     local at = sum(origin_c, type(c_row) == "number" and c_row * pitch or times(c_row, pitch), column)
%     local text_of = components(value, width, j, 1)
%     if whole then text_of = last.call(text_of, sum("0", column), at) end
            matrix_c[${at}] = ${text_of};
%   end
% end
% local function store_all(f, value_of)
%   for i = 0, p.lines - 1 do
        ${p.exact and "" or "if (" .. is_there(i) .. ") "}{
            const ${glsl.vector(wide, width)} value_${i} = ${value_of(i)};
%     store(i, f, "value_" .. i)
        }
%   end
% end
%
% -- Where line i of the invocation that is `q` of the partials along K has its place.
% local function place(i, q)
%   return sum(i * p.partials * p.lanes, times(q, p.lanes), "lane")
% end
% local function in_registers(i, f) return glsl.converted("sum_" .. i .. "_" .. f, sums, wide, width) end
% for f = 0, few.lines - 1 do
%   local function of_lane(i) return in_registers(i, f) end
%   if p.in_subgroup then
%     for i = 0, p.lines - 1 do
    ${glsl.vector(wide, width)} of_subgroup_${i}_${f} = ${in_registers(i, f)};
%       if p.along_k % p.subgroup == 0 then
    of_subgroup_${i}_${f} = subgroupAdd(of_subgroup_${i}_${f});
%       else
%         local n = p.along_k // 2
%         while n > 0 do
    of_subgroup_${i}_${f} += subgroupShuffleXor(of_subgroup_${i}_${f}, ${n});
%           n = n // 2
%         end
%       end
%     end
%     of_lane = function(i) return "of_subgroup_" .. i .. "_" .. f end
%   end
%   if p.partials > 1 then
%     local writer = p.in_subgroup and "if (lane_k % " .. p.subgroup .. " == 0) " or ""
%     if f > 0 then
    barrier();
%     end
    ${writer}{
%     for i = 0, p.lines - 1 do
        part[${place(i, p.in_subgroup and over("lane_k", p.subgroup) or "lane_k")}] = ${of_lane(i)};
%     end
    }
    barrier();
%     local half = p.partials // 2
%     while half > 0 do
    if (lane_k < ${half}) {
%       for i = 0, p.lines - 1 do
        part[${place(i, "lane_k")}] += part[${sum(place(i, "lane_k"), half * p.lanes)}];
%       end
    }
%       if half > 1 then
    barrier();
%       end
%       half = half // 2
%     end
%     of_lane = function(i) return "part[" .. place(i, "lane_k") .. "]" end
%   end
    ${p.along_k > 1 and "if (lane_k == 0) " or ""}{
%   store_all(f, of_lane)
    }
% end
}
