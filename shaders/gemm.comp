#version 450
// C[${N},${M}] = A B over ${K}: ${a.tile} x ${b.tile} elements of C a workgroup, ${a.count} x ${b.count} an invocation.
% -- One kernel for every schedule; lua/matmul.lua derives its sizes and explains the words. `x` is an operand, a or b.
% local half = op.type == "f16"
% local operands = { a, b }
%
% local function stored(n) return glsl.vector(op.type, n) end
% local function number(n) return glsl.vector("f32", n) end
% local function widened(text, n) return glsl.converted(text, op.type, "f32", n) end
% local sum, times, over, modulo = glsl.sum, glsl.times, glsl.over, glsl.modulo
% local below, components = glsl.below, glsl.components
% for _, name in ipairs(glsl.extensions(op.type)) do
#extension ${name} : require
% end
% if hint then
#extension GL_EXT_control_flow_attributes : require
% end

layout(local_size_x = ${b.lanes}, local_size_y = ${a.lanes}) in;

layout(std430, set = 0, binding = ${op.bindings.A}) restrict readonly buffer MatrixA { ${stored(a.vector)} matrix_a[]; };
layout(std430, set = 0, binding = ${op.bindings.B}) restrict readonly buffer MatrixB { ${stored(b.vector)} matrix_b[]; };
% if parts == 1 then
layout(std430, set = 0, binding = ${op.bindings.C}) restrict writeonly buffer MatrixC { ${stored(vector_c)} matrix_c[]; };
% else
layout(std430, set = 0, binding = ${op.bindings.scratch}) restrict writeonly buffer Parts { ${number(vector_c)} matrix_c[]; };
% end
% for _, x in ipairs(operands) do
%   if x.staged then
%     local copies = x.stage == "double" and "2 x " or ""
shared ${stored(x.chunk)} tile_${x.name}[${x.shared_chunks}]; // ${copies}${depth} x ${x.tile} elements
%   end
% end
%
% -- Registers ---------------------------------------------------------------------------------------------------------
%
% -- How far register line i is from the first one of its invocation.
% local function offset(x, i) return i // x.registers * x.lanes * x.registers + i % x.registers end
%
% -- Elements are read in chunks: from shared memory neighbours across the lines, from the buffer as they lie there.
% -- The chunk with element k of register line i: its first line, its first k, its width.
% local function chunk(x, i, k)
%   if x.staged then return i // x.chunk * x.chunk, k, x.chunk end
%   if x.along_k then return i, k // x.vector * x.vector, x.vector end
%   return i // x.vector * x.vector, k, x.vector
% end
%
% -- How many register lines such a chunk has; sums are vectors of as many columns.
% local function lines_of_chunk(x) return x.staged and x.chunk or x.along_k and 1 or x.vector end
% local width = lines_of_chunk(b)
%
% -- Element k of register line i and its neighbours, n in all.
% local function register(x, i, k, n)
%   local first_i, first_k, size = chunk(x, i, k)
%   return components(x.name .. "_" .. first_i .. "_" .. first_k, size, i - first_i + k - first_k, n)
% end
%
% -- Vectors from one row of the buffer to the next.
% local function pitch(x) return x.pitch_in_memory // x.vector end
%
% -- Whether addresses need no clamping, so that the chunks of a step lie at constant distances from x_at.
% local function is_plain(x) return x.staged or x.exact and exact_k end
%
% -- Where a step that begins at `at` within the tile finds its registers.
% local function begin_step(x, at)
%   if x.staged then
            const uint ${x.name}_at = ${sum("read_" .. x.name, times(at, x.pitch))};
%   elseif is_plain(x) then
%     local distance = x.along_k and over("k", x.vector) or times("k", pitch(x))
            const uint ${x.name}_at = ${sum("line_" .. x.name, distance)};
%   end
% end
%
% -- A value where the condition holds, zeros elsewhere: selected, because branches in nested loops may take compilers a
% -- time that doubles with each.
% local function guarded(condition, value, type, size)
%   return "mix(" .. type .. "(0), " .. value .. ", " .. (size > 1 and "bvec" .. size or "") .. "(" .. condition .. "))"
% end
%
% -- Text of the chunk that begins at element k of register line i.
% local function read(x, i, k, size)
%   local function from(memory, at) return widened(memory .. x.name .. "[" .. at .. "]", size) end
%   local here = x.name .. "_at"
%   if x.staged then return from("tile_", sum(here, k * x.pitch + offset(x, i) // x.chunk)) end
%   if is_plain(x) and x.along_k then return from("matrix_", sum(here, offset(x, i) * pitch(x) + k // x.vector)) end
%   if is_plain(x) then return from("matrix_", sum(here, k * pitch(x) + offset(x, i) // x.vector)) end
%   local element = sum("k", k)
%   local at = exact_k and element or "min(" .. element .. ", " .. K - (x.along_k and x.vector or 1) .. ")"
%   at = x.along_k and over(at, x.vector) or times(at, pitch(x))
%   local value = from("matrix_", sum("line_" .. x.name .. "_" .. i, at))
%   return exact_k and value or guarded(element .. " < " .. K, value, number(size), size)
% end
%
% -- Loads the chunk with element k of register line i, the first time that a step asks for it.
% local loaded
% local function need(x, i, k)
%   local first_i, first_k, size = chunk(x, i, k)
%   local name = x.name .. "_" .. first_i .. "_" .. first_k
%   if not loaded[name] then
%     loaded[name] = true
            const ${number(size)} ${name} = ${read(x, first_i, first_k, size)};
%   end
% end
%
% -- One step, written out: the products of `step` elements of K with all registers, in the order of the loops.
% local function products(at)
        {
%   if not (a.staged and b.staged) then
            const uint k = ${sum("k_tile", at)};
%   end
%   begin_step(a, at)
%   begin_step(b, at)
%   loaded = {}
%   local extent, stride, index = { n = a.count, m = b.count, k = step }, { n = 1, m = width, k = 1 }, {}
%   local function nest(level)
%     local name = order[level]
%     for value = 0, extent[name] - 1, stride[name] do
%       index[name] = value
%       if level < 3 then
%         nest(level + 1)
%       else
%         local n, m, k = index.n, index.m, index.k
%         need(a, n, k)
%         need(b, m, k)
            sum_${n}_${m} += ${register(a, n, k, 1)} * ${register(b, m, k, width)};
%       end
%     end
%   end
%   nest(1)
        }
% end
%
% -- Shared tiles ------------------------------------------------------------------------------------------------------
%
% -- In round r an invocation brings vector thread + r * threads of the tile, counted as the tile lies in memory: in
% -- rows of `row_vectors`. Returns the row and the place in it; where rows and rounds fit, rounds lie at constant
% -- distances.
% local function row_vectors(x) return (x.along_k and depth or x.tile) // x.vector end
% local function place(x, r)
%   local row = row_vectors(x)
%   if r == "i" then
%     local vector = "thread + i * " .. threads
%     return over(vector, row), modulo(vector, row)
%   elseif threads % row == 0 then
%     return sum("row_" .. x.name, r * (threads // row)), "place_" .. x.name
%   elseif row % threads == 0 then
%     local turns = row // threads
%     return sum("row_" .. x.name, r // turns), sum("place_" .. x.name, r % turns * threads)
%   end
%   local vector = sum("thread", r * threads)
%   return over(vector, row), modulo(vector, row)
% end
%
% -- Text of the vector that is brought in round r for the tile at `k`.
% local function fetch(x, r, k)
%   local row, at = place(x, r)
%   local vectors_k, vectors_lines = x.along_k and K // x.vector or K, x.along_k and x.lines or x.lines // x.vector
%   local line = sum(x.along_k and "first_" .. x.name or over("first_" .. x.name, x.vector), x.along_k and row or at)
%   local element = sum(x.along_k and over(k, x.vector) or k, x.along_k and at or row)
%   if not x.exact then line = below(line, vectors_lines) end
%   local inside = element .. " < " .. vectors_k
%   if not exact_k then element = below(element, vectors_k) end
%   if x.along_k then line = times(line, pitch(x)) else element = times(element, pitch(x)) end
%   local value = "matrix_" .. x.name .. "[" .. sum(line, element) .. "]"
%   return exact_k and value or guarded(inside, value, stored(x.vector), x.vector)
% end
%
% -- Puts a vector of round r into its place: whole chunks when neighbours in memory are neighbours in the tile.
% local function put(x, r, vector, half_tile)
%   local row, at = place(x, r)
%   local first = sum(half_tile, times(x.along_k and times(at, x.vector) or row, x.pitch))
%   if not x.along_k and x.vector % x.chunk == 0 then
%     for j = 0, x.vector - 1, x.chunk do
%       local to = sum(first, times(at, x.vector // x.chunk), j // x.chunk)
            tile_${x.name}[${to}] = ${components(vector, x.vector, j, x.chunk)};
%     end
%   else
%     for j = 0, x.vector - 1 do
%       local line = x.along_k and row or sum(times(at, x.vector), j)
%       local to = sum(first, x.along_k and j * x.pitch or 0, over(line, x.chunk))
%       local component = x.chunk > 1 and "[" .. modulo(line, x.chunk) .. "]" or ""
            tile_${x.name}[${to}]${component} = ${components(vector, x.vector, j, 1)};
%     end
%   end
% end
%
% -- Not every invocation has a vector in the last round.
% local function if_any(x, r)
%   local vector = r == "i" and "thread + i * " .. threads or sum("thread", r * threads)
%   local is_full = x.vectors % threads == 0 or r ~= "i" and r < x.rounds - 1
%   return is_full and "" or "if (" .. vector .. " < " .. x.vectors .. ") "
% end
%
% -- Fills a tile at once: all rounds, in a loop when they are many.
% local function fill(x, k, half_tile)
%   local rounds = x.looped and 1 or x.rounds
%   if x.looped then
        for (uint i = 0; i < ${x.rounds}; ++i)
%   end
%   for n = 0, rounds - 1 do
%     local r = x.looped and "i" or n
        ${if_any(x, r)}{
            const ${stored(x.vector)} v = ${fetch(x, r, k)};
%     put(x, r, "v", half_tile)
        }
%   end
% end
%
% -- The same in two halves, the vectors waiting in registers in between.
% local function fetch_ahead(x, k)
%   for r = 0, x.rounds - 1 do
        ${if_any(x, r)}next_${x.name}_${r} = ${fetch(x, r, k)};
%   end
% end
% local function put_ahead(x, half_tile)
%   for r = 0, x.rounds - 1 do
        ${if_any(x, r)}{
%     put(x, r, "next_" .. x.name .. "_" .. r, half_tile)
        }
%   end
% end
%
% -- Calls action(x) for the operands for which a field, and with a third argument its value, is as wished.
% local function each(field, action, value)
%   for _, x in ipairs(operands) do
%     if value == nil and x[field] or value ~= nil and x[field] == value then action(x) end
%   end
% end
% local function any(field, value)
%   local found = false
%   each(field, function() found = true end, value)
%   return found
% end

void main()
{
% if walk == 1 then
    const uint tile_row = gl_WorkGroupID.y, tile_column = gl_WorkGroupID.x;
% elseif walk == 0 then
    const uint tile_row = gl_WorkGroupID.x, tile_column = gl_WorkGroupID.y;
% else
    // Workgroups go down bands of ${walk} rows of tiles, so that those that run together share what they read.
    const uint group = gl_WorkGroupID.y * ${b.tiles} + gl_WorkGroupID.x;
    const uint band = group / ${walk * b.tiles} * ${walk}, in_band = group % ${walk * b.tiles};
    const uint height = ${a.tiles % walk == 0 and walk or "min(" .. walk .. ", " .. a.tiles .. " - band)"};
    const uint tile_row = band + in_band % height, tile_column = in_band / height;
% end
    const uint first_a = tile_row * ${a.tile}, first_b = tile_column * ${b.tile};
    const uint lane_a = ${a.lanes == 1 and "0" or "gl_LocalInvocationID.y"}, lane_b = gl_LocalInvocationID.x;
    uint k_tile = ${parts == 1 and "0" or times("gl_WorkGroupID.z", depth * tiles)};
%
% each("staged", function(x)
%   local first = "first_" .. x.name .. " + " .. times("lane_" .. x.name, x.registers)
%   if is_plain(x) then
    const uint line_${x.name} = ${x.along_k and times(first, pitch(x)) or over(first, x.vector)};
%   else
%     for i = 0, x.count - 1, lines_of_chunk(x) do
%       local line = sum(first, offset(x, i))
%       if not x.exact then line = "min(" .. line .. ", " .. x.lines - (x.along_k and 1 or x.vector) .. ")" end
    const uint line_${x.name}_${i} = ${x.along_k and times(line, pitch(x)) or over(line, x.vector)};
%     end
%   end
% end, false)
% if any("staged") then
    const uint thread = gl_LocalInvocationIndex;
% end
% each("staged", function(x)
    uint read_${x.name} = ${times("lane_" .. x.name, x.registers // x.chunk)};
%   if x.stage == "double" then
    uint write_${x.name} = ${x.chunks};
%   end
%   if not x.looped then
    const uint row_${x.name} = thread / ${row_vectors(x)}, place_${x.name} = thread % ${row_vectors(x)};
%   end
% end)
% each("ahead", function(x)
%   for r = 0, x.rounds - 1 do
    ${stored(x.vector)} next_${x.name}_${r};
%   end
% end)

% for i = 0, a.count - 1 do
%   for j = 0, b.count - 1, width do
    ${number(width)} sum_${i}_${j} = ${number(width)}(0);
%   end
% end

% each("ahead", function(x) fetch_ahead(x, "k_tile") end)
% each("stage", function(x)
%   if x.ahead then put_ahead(x, "0") else fill(x, "k_tile", "0") end
% end, "double")
% local single = any("stage", "shared") or any("stage", "prefetch")
% if any("staged") and not single then
    barrier();
% end
    for (uint tile = 0; tile < ${tiles}; ++tile, k_tile += ${depth}) {
% each("stage", function(x) fill(x, "k_tile", "0") end, "shared")
% each("stage", function(x) put_ahead(x, "0") end, "prefetch")
% if single then
        barrier();
% end
% if any("ahead") or any("stage", "double") then
        const bool more = tile < ${tiles - 1};
        const uint k_next = k_tile + ${depth};
        if (more) {
%   each("ahead", function(x) fetch_ahead(x, "k_next") end)
%   each("stage", function(x)
%     if x.looped then fill(x, "k_next", "write_" .. x.name) end
%   end, "double")
        }
% end
% local body, at = step * unrolled, "0"
% if unrolled < steps then
%   at = "i"
        for (uint i = 0; i < ${depth}; i += ${body}) {
% end
% if hint then
        [[unroll]] for (uint j = 0; j < ${body}; j += ${step})
%   products(sum(at, "j"))
% else
%   for n = 0, unrolled - 1 do products(sum(at, n * step)) end
% end
% if unrolled < steps then
        }
% end
% each("stage", function(x)
%   if x.ahead then
        if (more) {
%     put_ahead(x, "write_" .. x.name)
        }
%   end
        read_${x.name} = ${sum(times("lane_" .. x.name, x.registers // x.chunk), "write_" .. x.name)};
        write_${x.name} = ${x.chunks} - write_${x.name};
% end, "double")
% if any("staged") then
        barrier();
% end
    }

% -- The sums of register line i from column j on, one vector.
% local function result(i, j)
%   if vector_c <= width then
%     return components("sum_" .. i .. "_" .. j // width * width, width, j % width, vector_c)
%   end
%   local vectors = {}
%   for n = j, j + vector_c - 1, width do vectors[#vectors + 1] = "sum_" .. i .. "_" .. n end
%   return number(vector_c) .. "(" .. table.concat(vectors, ", ") .. ")"
% end
    const uint row = ${sum("first_a", times("lane_a", a.registers))};
    const uint column = ${sum("first_b", times("lane_b", b.registers))};
% local c_row = parts == 1 and "row" or "(" .. times("gl_WorkGroupID.z", N) .. " + row)"
    const uint corner = ${sum(times(c_row, M // vector_c), over("column", vector_c))};
% for i = 0, a.count - 1 do
%   if not a.exact then
    if (${sum("row", offset(a, i))} < ${N}) {
%   end
%   for j = 0, b.count - 1, vector_c do
%     local value = half and parts == 1 and stored(vector_c) .. "(" .. result(i, j) .. ")" or result(i, j)
%     local guard = b.exact and "" or "if (" .. sum("column", offset(b, j)) .. " < " .. M .. ") "
        ${guard}matrix_c[${sum("corner", offset(a, i) * (M // vector_c) + offset(b, j) // vector_c)}] = ${value};
%   end
%   if not a.exact then
    }
%   end
% end
}
