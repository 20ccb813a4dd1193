#version 450
% -- One kernel for every schedule; lua/fused_attention.lua derives its sizes and explains the words, lua/matrix_units.lua spells what
% -- is done with fragments.
% local p, u, op, v = plan, plan.units, plan.op, plan.vector
% local sum, times, over, modulo = glsl.sum, glsl.times, glsl.over, glsl.modulo
% local whole = p.parts == 1
% local wide, moved, output = glsl.vector("f32", v), p.moved, whole and p.output or "f32"
% local o_vector = whole and p.o_vector or 1
// ${p.lines} of ${p.all_lines} queries (of ${p.group} heads) a workgroup, ${p.keys} of ${op.M} keys a tile, ${op.dim} elements each.
% for _, name in ipairs(glsl.extensions(op.type)) do
#extension ${name} : require
% end
% for _, name in ipairs(u and u.extensions or {}) do
#extension ${name} : require
% end
% if u and not u.is_emulated then
#extension GL_EXT_control_flow_attributes : require
% end
${glsl.decoder(op.type)}${u and glsl.encoder(op.type) or ""}
layout(local_size_x = ${p.threads}) in;

% for _, name in ipairs { "q", "k", "v" } do
layout(std430, set = 0, binding = ${op.bindings[name:upper()]}) restrict readonly buffer Buffer${name:upper()} { ${moved} buffer_${name}[]; };
% end
layout(std430, set = 0, binding = ${whole and op.bindings.O or op.bindings.scratch}) restrict writeonly buffer BufferO { ${glsl.vector(output, o_vector)} buffer_o[]; };

% for _, name in ipairs(p.two and not p.turned and { "q", "k", "v" } or { "q", "k" }) do
shared ${moved} tile_${name}[${(name == "q" and p.lines or p.keys) * p.pitch}];
% end
% if p.turned then
shared uint tile_v[${p.dim * p.pitch_turned}]; // ${p.dim} rows of pairs of keys
% end
shared float scores[${p.lines * p.pitch_scores}];
shared ${glsl.vector(p.element, 1)} weights[${p.lines * p.pitch_weights}];
shared float factors[${p.lines}];
% if p.reduced then
shared float tops[${p.lines * p.pitch_tops}]; // the largest scores of units, as often as a fragment has columns

float larger(const in float a, const in float b) { return max(a, b); }
% end
% local tile_v = p.two and "tile_v" or "tile_k"
%
% -- The rounds in which an invocation fills a tile of so many rows: body() is about its vector `at`.
% local function each_round(rows, body)
%   local load = attention.load(p, rows)
%   if load.looped then
        for (uint round = 0; round < ${load.rounds}; ++round)
%   end
%   for round = 0, load.looped and 0 or load.rounds - 1 do
%     local at = sum("thread", load.looped and "round * " .. p.threads or round * p.threads)
%     local is_last = load.vectors % p.threads ~= 0 and (load.looped or round == load.rounds - 1)
        ${is_last and "if (" .. at .. " < " .. load.vectors .. ") " or ""}{
            const uint at = ${at};
%     body()
        }
%   end
% end
%
% -- Vector d of a row that is `from` in memory; what is behind dim is 0.
% local function fetched(buffer, from)
%   local value = "buffer_" .. buffer .. "[" .. from .. " * " .. op.dim // v .. " + " .. (p.padded and "min(d, " .. op.dim // v - 1 .. ")" or "d") .. "]"
%   local as_words = u and v > 1
%   return p.padded and glsl.guarded("d < " .. op.dim // v, value, as_words and "word" or op.type, as_words and v * glsl.bytes(op.type) // 4 or v) or value
% end
%
% -- Fills a tile with rows from `first` on: those beyond the last are the last one again.
% local function fill(to, from, rows, first, last, row_of)
%   each_round(rows, function()
            const uint row = ${over("at", p.dim // v)}, d = ${modulo("at", p.dim // v)};
            ${to}[row * ${p.pitch} + d] = ${fetched(from, row_of("min(" .. first .. " + row, " .. last .. ")"))};
%   end)
% end
% local function row_of_key(key) return "(origin_k + " .. times(key, p.place.keys.key) .. ")" end
% local function fill_keys(to, from, first) fill(to, from, p.keys, first, op.M - 1, row_of_key) end
%
% -- The same of V, transposed, two keys in a word. Neighbours have neighbouring keys, and write side by side.
% local function fill_turned()
%   each_round(p.keys // 2, function()
            const uint pair = ${modulo("at", p.keys // 2)}, d = ${over("at", p.keys // 2)};
%     for n, name in ipairs { "even", "odd" } do
            const ${moved} ${name} = ${fetched("v", row_of_key("min(" .. sum("key + pair * 2", n - 1) .. ", " .. op.M - 1 .. ")"))};
%     end
%     if v == 1 then
            tile_v[d * ${p.pitch_turned} + pair] = ${op.type == "f16" and "packFloat2x16(f16vec2(even, odd))" or "uint(even) + (uint(odd) << 16)"};
%     end
%     for word = 0, v // 2 - 1 do
%       local even, odd = glsl.components("even", v // 2, word, 1), glsl.components("odd", v // 2, word, 1)
            tile_v[(d * ${v} + ${2 * word}) * ${p.pitch_turned} + pair] = (${even} & 0xffffu) + (${odd} << 16);
            tile_v[(d * ${v} + ${2 * word + 1}) * ${p.pitch_turned} + pair] = (${even} >> 16) + (${odd} & 0xffff0000u);
%     end
%   end)
% end
%
% -- Line i of a unit, and the key or column of O that begins its fragment j, of those of its tile.
% local function line(i) return sum("unit_row", i * p.rows * p.m) end
% local function column(j) return sum(times("unit_column", p.n), j * p.columns * p.n) end
%
% -- Scores ---------------------------------------------------------------------------------------------------------------
%
% local function each_fragment(columns, body)
%   for i = 0, p.count - 1 do
%     for j = 0, columns - 1 do body(i, j) end
%   end
% end
% local memory = { element = op.type, vector = v }
% local function named(name) return { name = name, element = memory.element, vector = memory.vector } end
% local function scores_of_units()
        {
%   each_fragment(p.keys_of_unit, function(i, j)
            ${u.zero("c", "score_" .. i .. "_" .. j)}
%   end)
            for (uint d = 0; d < ${p.dim // p.k}; ++d) {
%   for i = 0, p.count - 1 do
                ${u.declare("a", "q_" .. i)}
                ${u.load("a", "q_" .. i, named("tile_q"), sum(times(line(i), p.pitch), times("d", p.k // v)), p.pitch)}
%   end
%   for j = 0, p.keys_of_unit - 1 do
                ${u.declare("b", "k_" .. j)}
                ${u.load("b", "k_" .. j, named("tile_k"), sum(times(column(j), p.pitch), times("d", p.k // v)), p.pitch, true)}
%     for i = 0, p.count - 1 do
                ${u.multiply_add("score_" .. i .. "_" .. j, "q_" .. i, "k_" .. j)}
%     end
%   end
            }
%   each_fragment(p.keys_of_unit, function(i, j)
            ${u.store("c", "score_" .. i .. "_" .. j, { name = "scores", element = "f32", vector = 1 }, sum(times(line(i), p.pitch_scores), column(j)), p.pitch_scores)}
%   end)
%   for i = 0, p.reduced and p.count - 1 or -1 do
%     local top = "largest_" .. i
            ${u.converted(top, "f32", "score_" .. i .. "_0")}
%     for j = 1, p.keys_of_unit - 1 do
            ${u.each(top, top .. "[e] = max(" .. top .. "[e], score_" .. i .. "_" .. j .. "[e]);")}
%     end
            ${u.reduce(top, "larger")}
            ${u.store("c", top, { name = "tops", element = "f32", vector = 1 }, sum(times(line(i), p.pitch_tops), times("unit_column", p.n)), p.pitch_tops)}
%   end
        }
% end
% local function scores_of_invocations()
        {
%   each_fragment(p.keys_of_unit, function(i, j)
            float score_${i}_${j} = 0.0;
%   end)
            for (uint d = 0; d < ${p.dim // v}; d += ${p.unroll}) {
%   for step = 0, p.unroll - 1 do
                {
%     for i = 0, p.count - 1 do
                const ${wide} q_${i} = ${glsl.converted("tile_q[" .. sum(times(line(i), p.pitch), "d", step) .. "]", op.type, "f32", v)};
%     end
%     for j = 0, p.keys_of_unit - 1 do
                const ${wide} k_${j} = ${glsl.converted("tile_k[" .. sum(times(column(j), p.pitch), "d", step) .. "]", op.type, "f32", v)};
%     end
%     each_fragment(p.keys_of_unit, function(i, j)
                score_${i}_${j} += dot(q_${i}, k_${j});
%     end)
                }
%   end
            }
%   each_fragment(p.keys_of_unit, function(i, j)
            scores[${sum(times(line(i), p.pitch_scores), column(j))}] = score_${i}_${j};
%   end)
        }
% end
%
% -- Weights: lines of an invocation -------------------------------------------------------------------------------------
%
% local function of_line(e) return sum(over("thread", p.share), e * p.threads) end
% local first_key = modulo("thread", p.share)
% local function weigh(e)
        {
            const uint row = ${of_line(e)};
            float largest = ${attention.lowest};
%   local score = "scores[row * " .. p.pitch_scores .. " + c]"
%   if p.reduced then
            for (uint c = 0; c < ${p.columns}; ++c)
                largest = max(largest, tops[row * ${p.pitch_tops} + c * ${p.n}]);
%   else
            for (uint c = 0; c < ${p.keys}; ++c)
                largest = max(largest, ${p.masked and "mix(" .. attention.lowest .. ", " .. score .. ", key + c < seen_" .. e .. ")" or score});
%   end
            const float next = max(top_${e}, largest * ${p.scale});
            const float factor = exp2(top_${e} - next);
            float sum = 0.0;
            for (uint c = ${first_key}; c < ${p.keys}; c += ${p.share}) {
                ${p.masked and "" or "const "}float weight = exp2(${score} * ${p.scale} - next);
%   if p.masked then
                weight = mix(0.0, weight, key + c < seen_${e});
%   end
                const ${glsl.vector(p.element, 1)} stored = ${glsl.converted("weight", "f32", p.element, 1)};
                weights[row * ${p.pitch_weights} + c] = stored;
                sum += ${glsl.converted("stored", p.element, "f32", 1)};
            }
            sum_${e} = sum_${e} * factor + sum;
            top_${e} = next;
            ${p.share > 1 and "if (" .. first_key .. " == 0) " or ""}factors[row] = factor;
        }
% end
%
% -- O --------------------------------------------------------------------------------------------------------------------
%
% local function rescale()
%   for i = 0, p.count - 1 do
%     if u then
        {
            ${u.declare("c", "factor_" .. i)}
            ${u.load("c", "factor_" .. i, { name = "factors", element = "f32", vector = 1 }, line(i), 0, true)}
%       for j = 0, p.dims - 1 do
            ${u.each("o_" .. i .. "_" .. j, "o_" .. i .. "_" .. j .. "[e] *= factor_" .. i .. "[e];")}
%       end
        }
%     else
        const float factor_${i} = factors[${line(i)}];
%       for j = 0, p.dims - 1 do
        o_${i}_${j} *= factor_${i};
%       end
%     end
%   end
% end
% local function add_values_of_units()
        for (uint c = 0; c < ${p.keys // p.k}; ++c) {
%   for i = 0, p.count - 1 do
            ${u.declare("a", "w_" .. i)}
            ${u.load("a", "w_" .. i, { name = "weights", element = p.element, vector = 1 }, sum(times(line(i), p.pitch_weights), times("c", p.k)), p.pitch_weights)}
%   end
%   for j = 0, p.dims - 1 do
            ${u.declare("b", "v_" .. j)}
%     if p.turned then
            ${u.load("b", "v_" .. j, { name = "tile_v", element = op.type, vector = 2 }, sum(times(column(j), p.pitch_turned), times("c", p.k // 2)), p.pitch_turned, true)}
%     else
            ${u.load("b", "v_" .. j, named(tile_v), sum(times("c", p.k * p.pitch), over(glsl.bracketed(column(j)), v)), p.pitch)}
%     end
%     for i = 0, p.count - 1 do
            ${u.multiply_add("o_" .. i .. "_" .. j, "w_" .. i, "v_" .. j)}
%     end
%   end
        }
% end
% local function add_values_of_invocations()
        for (uint c = 0; c < ${p.keys}; c += ${p.unroll}) {
%   for step = 0, p.unroll - 1 do
            {
%     for i = 0, p.count - 1 do
            const float w_${i} = weights[${sum(times(line(i), p.pitch_weights), "c", step)}];
%     end
%     for j = 0, p.dims - 1 do
            const ${wide} v_${j} = ${glsl.converted(tile_v .. "[" .. sum(times(sum("c", step), p.pitch), column(j)) .. "]", op.type, "f32", v)};
%     end
%     each_fragment(p.dims, function(i, j)
            o_${i}_${j} += w_${i} * v_${j};
%     end)
            }
%   end
        }
% end
%
% -- Element `d` of a line in memory: of O, or of a part.
% local function store_value(element_of, values)
%   if whole then
            const uint to = (origin_o + ${attention.row_of(p, "line")}) * ${op.dim // o_vector} + d;
            buffer_o[to] = ${values};
%   else
            const uint to = ((gl_WorkGroupID.z * ${p.matrices} + matrix) * ${p.all_lines} + line) * ${op.dim} + ${times("d", p.o_vector)};
%     for e = 0, p.o_vector - 1 do
            buffer_o[${sum("to", e)}] = ${element_of(e)};
%     end
%   end
% end
% local function inside(dims)
%   local tests = {}
%   if not p.exact_lines then tests[#tests + 1] = "line < " .. p.all_lines end
%   if p.padded then tests[#tests + 1] = "d < " .. dims end
        ${#tests > 0 and "if (" .. table.concat(tests, " && ") .. ") " or ""}{
% end

void main()
{
    const uint thread = gl_LocalInvocationIndex, unit = ${u and u.unit or "thread"};
% if u then
    const uint lane = ${u.lane};
% end
    const uint unit_row = ${times(over("unit", p.columns), p.m)}, unit_column = ${modulo("unit", p.columns)};
    const uint matrix = gl_WorkGroupID.y, first = gl_WorkGroupID.x * ${p.lines};
    const uint origin_o = ${attention.origin(p, p.place.lines)}, origin_k = ${attention.origin(p, p.place.keys)};
    const uint begin = ${whole and "0" or "gl_WorkGroupID.z * " .. p.span}, stop = ${p.exact and "begin + " .. p.span or "min(begin + " .. p.span .. ", " .. op.M .. ")"};
% local last_line = p.exact_lines and "first + " .. p.lines - 1 or "min(first + " .. p.lines - 1 .. ", " .. p.all_lines - 1 .. ")"
    const uint end = ${p.causal and "min(stop, " .. over("(" .. last_line .. ")", p.group) .. " + " .. op.M - op.N + 1 .. ")" or "stop"};
% for e = 0, p.each - 1 do
    float top_${e} = ${attention.lowest}, sum_${e} = 0.0;
%   if p.causal then
    const uint seen_${e} = min(stop, ${over("(first + " .. of_line(e) .. ")", p.group)} + ${op.M - op.N + 1});
%   elseif p.masked then
    const uint seen_${e} = stop;
%   end
% end
% each_fragment(p.dims, function(i, j)
    ${u and u.zero("c", "o_" .. i .. "_" .. j) or wide .. " o_" .. i .. "_" .. j .. " = " .. wide .. "(0.0);"}
% end)
    {
% fill("tile_q", "q", p.lines, "first", p.all_lines - 1, function(row)
%   if p.group == 1 then return "(origin_o + " .. times(row, p.place.lines.query) .. ")" end
%   return "(origin_o + " .. attention.row_of(p, row) .. ")"
% end)
    }
% if p.two then
%   fill_keys("tile_k", "k", "begin")
    barrier();
% end

    for (uint key = begin; key < end; key += ${p.keys}) {
% if not p.two then
%   fill_keys("tile_k", "k", "key")
        barrier();
% end
% if u then scores_of_units() else scores_of_invocations() end
        barrier();
% if p.turned then fill_turned() else fill_keys(tile_v, "v", "key") end
% for e = 0, p.each - 1 do weigh(e) end
        barrier();
% rescale()
% if u then add_values_of_units() else add_values_of_invocations() end
% if p.two then
        if (key + ${p.keys} < end) {
%   fill_keys("tile_k", "k", "key + " .. p.keys)
        }
% end
        barrier();
    }

    // The sums of all invocations of a line.
% for e = 0, p.each - 1 do
    scores[${sum("thread", e * p.threads)}] = sum_${e};
% end
    barrier();
% for e = 0, p.each - 1 do
    {
        const uint row = ${of_line(e)};
        float sum = scores[${times("row", p.share)}];
%   if p.share > 1 then
        for (uint i = 1; i < ${p.share}; ++i)
            sum += scores[${times("row", p.share)} + i];
%   end
%   if whole then
        factors[row] = 1.0 / sum;
%   else
        const uint line = first + row;
        if (${first_key} == 0 && line < ${p.all_lines}) {
            const uint to = ${p.parts * p.matrices * p.all_lines * op.dim} + ((gl_WorkGroupID.z * ${p.matrices} + matrix) * ${p.all_lines} + line) * 2;
            buffer_o[to] = top_${e};
            buffer_o[to + 1] = sum;
        }
%   end
    }
% end
    barrier();
% if whole then rescale() end
% each_fragment(p.dims, function(i, j)
%   local name = "o_" .. i .. "_" .. j
%   if u then
    ${u.store("c", name, { name = "scores", element = "f32", vector = 1 }, times("unit", p.m * p.n), p.n)}
    barrier();
    for (uint e = 0; e < ${p.m * p.n // p.lanes}; ++e) {
        const uint at = lane + e * ${p.lanes};
        const uint line = ${sum("first", line(i), over("at", p.n))}, d = ${sum(column(j), modulo("at", p.n))};
%     inside(op.dim)
%     local value = "scores[" .. sum(times("unit", p.m * p.n), "at") .. "]"
%     store_value(function() return value end, glsl.converted(value, "f32", output, 1))
        }
    }
    barrier();
%   else
    {
        const uint line = ${sum("first", line(i))}, d = ${column(j)};
%     inside(op.dim // v)
%     store_value(function(e) return glsl.components(name, v, e, 1) end, glsl.converted(name, "f32", output, v))
        }
    }
%   end
% end)
}
