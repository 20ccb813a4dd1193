#version 450
// C[${plan.product.N},${plan.product.M}] = A B over ${plan.product.K}: fragments of ${plan.m} x ${plan.n}, ${plan.a.count} x ${plan.b.count} a subgroup, ${plan.a.units} x ${plan.b.units} subgroups.
% -- One kernel for every schedule; lua/coop.lua derives its sizes and explains the words, lua/matrix_units.lua spells
% -- what is done with fragments, lua/gemm_text.lua writes the addresses. `x` is an operand, a or b.
% local p, product, op, result, u = plan, plan.product, plan.product.op, plan.product.result, plan.units
% local a, b, operands, whole = p.a, p.b, { plan.a, plan.b }, plan.parts == 1
% local sums, n = glsl.sums(op), p.vector_c
% local sum, times, over = glsl.sum, glsl.times, glsl.over
% local output = whole and glsl.output(op) or glsl.wide(sums)
% local is_finished = whole and epilogue.is_needed(op)
% local along_bias = result.bias == "columns"
% local last = p.straight and epilogue.of_numbers(op) or epilogue.of(op, { sums = sums, n = n, along_bias = along_bias })
% for _, name in ipairs(glsl.extensions(op.type)) do
#extension ${name} : require
% end
% for _, name in ipairs(u.extensions) do
#extension ${name} : require
% end
% if p.store == "subgroup" and u.is_emulated then
#extension GL_KHR_shader_subgroup_basic : require
% elseif p.straight and not u.is_emulated then
#extension GL_EXT_control_flow_attributes : require
% end
${glsl.decoder(op.type)}
layout(local_size_x = ${p.threads}) in;

% for _, x in ipairs(operands) do
%   local block = string.upper(x.name)
layout(std430, set = 0, binding = ${x.place.binding}) restrict readonly buffer Matrix${block} { ${glsl.vector(text.moved(p, x.vector))} matrix_${x.name}[]; };
% end
layout(std430, set = 0, binding = ${whole and result.binding or op.bindings.scratch}) restrict writeonly buffer MatrixC { ${glsl.vector(output, n)} matrix_c[]; };
% if is_finished then
${last.text}
% end
% if p.staged then
%   for _, x in ipairs(operands) do
shared ${glsl.vector(text.moved(p, x.chunk))} tile_${x.name}[${x.shared_chunks}]; // ${p.stage == "double" and "2 x " or ""}${x.tile} x ${p.depth} elements
%   end
% end
% if not p.straight then
shared ${glsl.vector(sums, 1)} finished_sum[${a.units * b.units * p.m * p.n}]; // a fragment of each subgroup
% end
% for _, x in ipairs(operands) do
%   if x.gather then

${text.image(p, x)}
%   end
% end
%
% -- Tiles ---------------------------------------------------------------------------------------------------------------
%
% -- The names of what is brought in round r, while it waits: of a vector, or of the vectors of a block.
% local function brought(x, r)
%   local names = {}
%   for j = 0, x.block - 1 do names[#names + 1] = "next_" .. x.name .. "_" .. r .. (x.transposed and "_" .. j or "") end
%   return names
% end
% local pixels = {} -- of gathered operands by their lines, where they are found before the loop
% local function fetch(x, r, k, j)
%   local line = x.gather and text.line(p, x, r)
%   return text.fetch(p, x, r, k, line and (pixels[line] or text.pixel(p, x, line)), x.transposed and j - 1)
% end
%
% -- Puts a vector of round r into its place, or a block of vectors with its lines as rows.
% local function put(x, r, values, half_tile)
%   local row, at = text.place(p, x, r)
%   if not x.transposed then
            ${text.if_any(p, x, r)}tile_${x.name}[${sum(half_tile, times(row, x.pitch), at)}] = ${values[1]};
%     return
%   end
        ${text.if_any(p, x, r)}{
%   for line = 0, x.vector - 1 do
%     local to = sum(half_tile, times(at, x.vector * x.pitch), line * x.pitch, row)
            tile_${x.name}[${to}] = ${text.turned(p, values, x.vector, line)};
%   end
        }
% end
%
% -- Fills a tile at once: all rounds, in a loop when they are many.
% local function fill(x, k, half_tile)
%   if x.looped then
        for (uint i = 0; i < ${x.rounds}; ++i)${x.transposed and " {" or ""}
%   end
%   for n = 0, x.looped and 0 or x.rounds - 1 do
%     local r = x.looped and "i" or n
%     if x.transposed then
%       for j, name in ipairs(brought(x, r)) do
            ${glsl.vector(text.moved(p, x.vector))} ${name};
            ${text.if_any(p, x, r)}${name} = ${fetch(x, r, k, j)};
%       end
%       put(x, r, brought(x, r), half_tile or "0")
%     else
%       put(x, r, { fetch(x, r, k) }, half_tile or "0")
%     end
%   end
%   if x.looped and x.transposed then
        }
%   end
% end
%
% -- The same in two halves, the vectors waiting in registers in between.
% local function fetch_ahead(k)
%   for _, x in ipairs(operands) do
%     for r = 0, x.rounds - 1 do
%       for j, name in ipairs(brought(x, r)) do
        ${text.if_any(p, x, r)}${name} = ${fetch(x, r, k, j)};
%       end
%     end
%   end
% end
% local function put_ahead(half_tile)
%   for _, x in ipairs(operands) do
%     for r = 0, x.rounds - 1 do
%       put(x, r, brought(x, r), half_tile == "0" and "0" or half_tile .. x.name)
%     end
%   end
% end
%
% -- Fragments -----------------------------------------------------------------------------------------------------------
%
% -- Loads fragment i of an operand, k fragments into the tile. A's are rows of C, and lie so when K goes along them; B's
% -- are its columns.
% local function load(x, i, k)
%   local n = p.staged and x.chunk or x.vector
%   local memory = { name = (p.staged and "tile_" or "matrix_") .. x.name, element = op.type, vector = n }
%   local pitch = p.staged and x.pitch or text.pitch(x)
%   local line, element = sum("line_" .. x.name, i * x.extent), sum(p.staged and "0" or "k_tile", k * p.k)
%   local at = x.row_along_k and sum(times(line, pitch), over(element, n)) or sum(times(element, pitch), over(line, n))
%   local base = p.stage == "double" and "read_" .. x.name or not p.staged and text.origin_name(p, x) or "0"
            ${u.load(x.name, x.name .. "_" .. i, memory, sum(base, at), pitch, x.row_along_k == (x.name == "b"))}
% end
%
% local function products()
%   for k = 0, p.steps - 1 do
        {
%     for _, x in ipairs(operands) do
%       for i = 0, x.count - 1 do
            ${u.declare(x.name, x.name .. "_" .. i)}
%         load(x, i, k)
%       end
%     end
%     for i = 0, a.count - 1 do
%       for j = 0, b.count - 1 do
            ${u.multiply_add("sum_" .. i .. "_" .. j, "a_" .. i, "b_" .. j)}
%       end
%     end
        }
%   end
% end
%
% -- Stores fragment i, j of the sums. A subgroup's invocations all take the same way.
% local function store_straight(i, j, origin, c_row, pitch)
%   local name, held, inside = "sum_" .. i .. "_" .. j, p.sums, {}
%   local function become(element, text)
%     if held ~= element then
        ${u.converted(text, element, name)}
%       name, held = text, element
%     end
%   end
%   if not a.exact then inside[#inside + 1] = "row < " .. product.N end
%   if not b.exact then inside[#inside + 1] = "column < " .. product.M end
    {
        const uint row = ${sum("first_a", "corner_a", i * p.m)}, column = ${sum("first_b", "corner_b", j * p.n)};
        ${#inside > 0 and "if (" .. table.concat(inside, " && ") .. ") " or ""}{
        const uint at = ${sum(origin, times(c_row, pitch), whole and text.column(p, "column", 1) or "column")};
%   if is_finished then
%     local wide, added = glsl.wide(output), {}
%     become(wide, "sums")
%     for _, of in ipairs(last.added) do
%       local of_bias = of == "bias"
        ${u.declare("c", "each_" .. of, output)}
        ${u.load("c", "each_" .. of, { name = of, element = output, vector = 1 }, of_bias and text.bias(p, "row", "column", 1) or "at", of_bias and 0 or result.pitch)}
%       added[#added + 1] = "each_" .. of .. "[e]"
%       if wide ~= output then
        ${u.converted("wide_" .. of, wide, "each_" .. of)}
%         added[#added] = "wide_" .. of .. "[e]"
%       end
%     end
        ${u.each(name, name .. "[e] = " .. last.call(name .. "[e]", table.unpack(added)) .. ";")}
%   end
%   become(output, "result")
        ${u.store("c", name, { name = "matrix_c", element = output, vector = 1 }, "at", pitch)}
        }
    }
% end

void main()
{
    ${text.tile(p)}
    const uint first_a = tile_row * ${a.tile}, first_b = tile_column * ${b.tile};
    const uint unit = ${u.unit}, lane = ${u.lane};
    const uint corner_a = ${times(over("unit", b.units), a.count * a.extent)};
    const uint corner_b = ${times(glsl.modulo("unit", b.units), b.count * b.extent)};
% for _, x in ipairs(operands) do
    const uint line_${x.name} = ${sum(p.staged and "0" or "first_" .. x.name, "corner_" .. x.name)};
% end
% local part = p.matrices == 1 and "gl_WorkGroupID.z" or glsl.modulo("gl_WorkGroupID.z", p.parts)
    uint k_tile = ${whole and "0" or times(part, p.depth * p.tiles)};
% if p.matrices > 1 then
    const uint matrix = ${text.matrix(p)};
%   for _, x in ipairs(operands) do
%     if text.origin_name(p, x) ~= "0" then
    const uint ${text.origin_name(p, x)} = ${text.origin(p, x.place, x.vector)};
%     end
%   end
% end
% if p.staged then
    const uint thread = gl_LocalInvocationIndex;
%   for _, x in ipairs(operands) do
%     if not x.looped then
    const uint row_${x.name} = thread / ${text.row_vectors(p, x)}, place_${x.name} = thread % ${text.row_vectors(p, x)};
%     end
%     for r = 0, x.hoisted and x.rounds - 1 or -1 do
%       local line = text.line(p, x, r)
%       if not pixels[line] then
%         pixels[line] = "pixel_" .. x.name .. "_" .. r
    const uvec3 ${pixels[line]} = ${text.pixel(p, x, line)};
%       end
%     end
%     if p.halves == "swapped" then
    uint read_${x.name} = 0, write_${x.name} = ${x.chunks};
%     end
%     for r = 0, p.ahead and x.rounds - 1 or -1 do
    ${glsl.vector(text.moved(p, x.vector))} ${table.concat(brought(x, r), ", ")};
%     end
%   end
% end
% for i = 0, a.count - 1 do
%   for j = 0, b.count - 1 do
    ${u.zero("c", "sum_" .. i .. "_" .. j)}
%   end
% end

% if p.ahead then fetch_ahead("k_tile") end
% if p.stage == "double" then
%   if p.ahead then
%     put_ahead("0")
%   else
%     for _, x in ipairs(operands) do fill(x, "k_tile") end
%   end
    barrier();
% end
    for (uint tile = 0; tile < ${p.tiles}; ++tile, k_tile += ${p.depth}) {
% if p.stage == "shared" then
%   for _, x in ipairs(operands) do fill(x, "k_tile") end
        barrier();
% elseif p.stage == "prefetch" then
%   put_ahead("0")
        barrier();
% end
% if p.halves and p.halves ~= "swapped" then
%   for _, x in ipairs(operands) do
        const uint read_${x.name} = tile % 2 * ${x.chunks}, write_${x.name} = ${x.chunks} - read_${x.name};
%   end
% end
% if p.ahead or p.halves then
        const uint k_next = k_tile + ${p.depth};
        if (tile < ${p.tiles - 1}) {
%   if p.ahead then
%     fetch_ahead("k_next")
%   else
%     for _, x in ipairs(operands) do fill(x, "k_next", "write_" .. x.name) end
%   end
        }
% end
% products()
% if p.stage == "double" and p.ahead then
        if (tile < ${p.tiles - 1}) {
%   put_ahead("write_")
        }
% end
% if p.halves == "swapped" then
%   for _, x in ipairs(operands) do
        read_${x.name} = write_${x.name};
        write_${x.name} = ${x.chunks} - write_${x.name};
%   end
% end
% if p.staged then
        barrier();
% end
    }

% -- Rows of C lie apart as the result does, those of parts without gaps.
% local pitch = (whole and result.pitch or product.M) // n
% local origin = whole and text.origin(p, result, n) or text.origin_of_parts(p, n)
% local c_row = whole and "row" or sum(times(text.part(p), product.N), "row")
% local waits = p.store == "subgroup" and "subgroupBarrier()" or "barrier()"
% local fragment, vectors = p.m * p.n, p.m * p.n // n
% for i = 0, a.count - 1 do
%   for j = 0, b.count - 1 do
%     if p.straight then
%       store_straight(i, j, origin, c_row, pitch)
%     else
    ${u.store("c", "sum_" .. i .. "_" .. j, { name = "finished_sum", element = sums, vector = 1 }, times("unit", fragment), p.n)}
    ${waits};
    for (uint e = 0; e < ${p.vectors_of_lane}; ++e) {
        const uint vector = lane + e * ${p.lanes};
        const uint row = ${sum("first_a", "corner_a", over("vector", p.n // n), i * p.m)};
        const uint column = ${sum(over("(" .. sum("first_b", "corner_b", j * p.n) .. ")", n), glsl.modulo("vector", p.n // n))};
%     local inside = {}
%     if vectors % p.lanes ~= 0 then inside[#inside + 1] = "vector < " .. vectors end
%     if not a.exact then inside[#inside + 1] = "row < " .. product.N end
%     if not b.exact then inside[#inside + 1] = "column < " .. product.M // n end
        ${#inside > 0 and "if (" .. table.concat(inside, " && ") .. ") " or ""}{
            const uint from = ${sum(times("unit", fragment), times("vector", n))};
            const uint at = ${sum(origin, times(c_row, pitch), whole and text.column(p, "column", n) or "column")};
%     local elements = {}
%     for v = 0, n - 1 do elements[#elements + 1] = "finished_sum[" .. sum("from", v) .. "]" end
%     local value = glsl.vector(sums, n) .. "(" .. table.concat(elements, ", ") .. ")"
            matrix_c[at] = ${whole and last.call(value, text.bias(p, "row", "column", n), "at") or glsl.converted(value, sums, output, n)};
        }
    }
    ${waits};
%     end
%   end
% end
}
