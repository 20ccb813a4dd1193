#version 450
% -- One kernel for every schedule; lua/gemm_plan.lua derives its sizes and explains the words, lua/gemm_text.lua writes
% -- the addresses. `x` is an operand, a or b.
% local p, product, result, op = plan, plan.product, plan.product.result, plan.product.op
% local a, b, parts, width = p.a, p.b, p.parts, p.b.chunk -- sums are vectors of `width` columns
% local operands = { a, b }
// C[${product.N},${product.M}] = A B over ${product.K}${p.matrices > 1 and ", " .. p.matrices .. " times" or ""}:
// ${a.tile} x ${b.tile} elements of C a workgroup, ${a.count} x ${b.count} an invocation.
% local sums = glsl.sums(op)
% local sum, times, over, components = glsl.sum, glsl.times, glsl.over, glsl.components
% local packed = p.element == "word" -- four bytes along K, whose products are summed at once
% local few = p.widen and "part" or "sum" -- where products are added
% local factors = packed and p.element or glsl.products(op)
% local function stored(n) return glsl.vector(p.element, n) end
% local function number(n) return glsl.vector(sums, n) end
% local last = epilogue.of(op, { sums = sums, n = p.vector_c, along_bias = result.bias == "columns" })
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
% for _, name in ipairs(glsl.extensions(op.type)) do
#extension ${name} : require
% end
% if a.place.blocks and op.type ~= "f16" then
#extension GL_EXT_shader_16bit_storage : require
% end
% if packed then
%   for _, name in ipairs(glsl.dot_extensions()) do
#extension ${name} : require
%   end
% end
% if p.hint then
#extension GL_EXT_control_flow_attributes : require
% end
${glsl.decoder(op.type)}
layout(local_size_x = ${invocations[1]}, local_size_y = ${invocations[2]}, local_size_z = ${p.together}) in;

% local whole = parts == 1
% local output = whole and glsl.output(op) or glsl.wide(sums)
% local function binding(number) return "std430, set = 0, binding = " .. number end
% local function in_memory(x)
%   if x.place.blocks then return "uint16_t" end
%   return glsl.vector(x.place.rows and op.type or p.element, x.vector)
% end
layout(${binding(a.place.binding)}) restrict readonly buffer MatrixA { ${in_memory(a)} matrix_a[]; };
layout(${binding(b.place.binding)}) restrict readonly buffer MatrixB { ${in_memory(b)} matrix_b[]; };
% local binding_c = binding(whole and result.binding or op.bindings.scratch)
layout(${binding_c}) restrict writeonly buffer MatrixC { ${glsl.vector(output, p.vector_c)} matrix_c[]; };
% if whole and last.text ~= "" then
${last.text}
% end
% if a.place.blocks then

${a.place.packed and formats.packed_reader(a.place.blocks, "a") or formats.reader(a.place.blocks, "a", a.vector)}
%   if a.place.packed then
// Runs of ${run} words: the scales of 32 weights, their bytes.
uint word_of_a(uint at)
{
    const uint run = at / ${run}, word = at % ${run};
%     local scale = "packHalf2x16(scale_a(32 * run))"
%     if formats.runs(a.place.blocks) == 2 then scale = "packHalf2x16(vec2(scale_a(32 * run).x, scale_a(32 * run + 16).x))" end
    return word == 0 ? ${scale} : bytes_a(8 * run + word - 1);
}
${formats.words("a", a.vector, function(at) return "word_of_a(" .. at .. ")" end)}
%   end
% end
% each("staged", function(x)
%   local copies = (p.together > 1 and p.together .. " x " or "") .. (x.stage == "double" and "2 x " or "")
shared ${stored(x.chunk)} tile_${x.name}[${p.together * x.shared_chunks}]; // ${copies}${p.depth} x ${x.tile} elements
% end)
%
% if packed then

${glsl.dot_of_bytes()}
%   -- Four rows as rows of words.
%   each("place", function(x)
%     if x.place.rows and not x.gather then
%       local words = {}
%       for i = 0, x.vector - 1 do
%         local rows = {}
%         for row = 0, 3 do rows[#rows + 1] = components("row_" .. row, x.vector, i, 1) end
%         words[#words + 1] = "uint(pack32(i8vec4(" .. table.concat(rows, ", ") .. ")))"
%       end

${stored(x.vector)} quads_${x.name}(uint at)
{
%       for row = 0, 3 do
    const ${in_memory(x)} row_${row} = matrix_${x.name}[${sum("at", row * x.place.rows // x.vector)}];
%       end
    return ${stored(x.vector)}(${table.concat(words, ", ")});
}
%     end
%   end)
% end
%
% each("gather", function(x)

${text.image(p, x)}
% end)
%
% -- Writes once what does the same for all tiles, else for those that lie within K and for those that may not. `k`: where
% -- a tile begins. Of gathered operands one comparison finds what is outside, of K too.
% local function by_ends(k, differs, write)
%   if not p.within or not differs then return write(p) end
        if (${k} < ${p.within.elements}) {
%   write(p.within)
        } else {
%   write(p)
        }
% end
%
% -- Registers ---------------------------------------------------------------------------------------------------------
%
% -- Element k of register line i and its neighbours, n in all.
% local function register(x, i, k, n)
%   local first_i, first_k, size = text.chunk(x, i, k)
%   return components(x.name .. "_" .. first_i .. "_" .. first_k, size, i - first_i + k - first_k, n)
% end
%
% -- Where a step that begins at `at` within the tile finds its registers.
% local function begin_step(q, x, at)
%   if x.staged then
            const uint ${x.name}_at = ${sum("read_" .. x.name, times(at, x.pitch))};
%   elseif text.is_plain(q, x) then
%     local distance = x.along_k and over("k", x.vector) or times("k", text.pitch(x))
            const uint ${x.name}_at = ${sum("line_" .. x.name, distance)};
%   end
% end
%
% -- Early operands: a step loads what the next one multiplies, which begins at `at`, before its own products.
% local function each_early(action)
%   each("early", function(x)
%     for k = 0, p.step - 1 do
%       for i = 0, x.count - 1, x.chunk do action(x, x.name .. "_" .. i .. "_" .. k, i, k) end
%     end
%   end)
% end
% local function load_early(declare, at)
%   each("early", function(x) begin_step(p, x, at) end)
%   each_early(function(x, name, i, k)
%     local value = glsl.converted(text.read(p, x, i, k, x.chunk, at), p.element, factors, x.chunk)
            ${declare and "const " .. glsl.vector(factors, x.chunk) .. " next_" or ""}${name} = ${value};
%   end)
% end
%
% -- Loads the chunk with element k of register line i, the first time that a step asks for it.
% local loaded
% local function need(q, x, i, k, at)
%   if x.early then return end
%   local first_i, first_k, size = text.chunk(x, i, k)
%   local name = x.name .. "_" .. first_i .. "_" .. first_k
%   if not loaded[name] then
%     loaded[name] = true
%     local value = text.read(q, x, first_i, first_k, size, at)
            const ${glsl.vector(factors, size)} ${name} = ${glsl.converted(value, p.element, factors, size)};
%   end
% end
%
% -- The product of an element of A with `width` of B.
% local function product_of(n, m, k)
%   local of_a = register(a, n, k, 1)
%   if not packed then return of_a .. " * " .. register(b, m, k, width) end
%   local dots = {}
%   for j = m, m + width - 1 do dots[#dots + 1] = "dot_of_bytes(" .. of_a .. ", " .. register(b, j, k, 1) .. ", 0)" end
%   return width == 1 and dots[1] or glsl.vector(a.place.packed and "i32" or sums, width) .. "(" .. table.concat(dots, ", ") .. ")"
% end
%
% -- The products of a run of A in blocks are added up as whole numbers before they get their scales. Element 0 has these.
% local function product_of_run(n, m, k)
%   local at, begin, runs = k % run, k // run * run, formats.runs(a.place.blocks)
%   if at == 0 then return end
%   local words = (run - 1) // runs
%   local which, within = (at - 1) // words, (at - 1) % words
%   local name = "part_" .. n .. "_" .. m .. "_" .. begin + which
%   local declared = within == 0 and glsl.vector("i32", width) .. " " or ""
            ${declared}${name} ${within == 0 and "=" or "+="} ${product_of(n, m, k)};
%   if within < words - 1 then return end
%   local function of_b(component)
%     local all = {}
%     for j = m, m + width - 1 do all[#all + 1] = "unpackHalf2x16(" .. register(b, j, begin, 1) .. ")" .. component end
%     return number(width) .. "(" .. table.concat(all, ", ") .. ")"
%   end
%   local of_a = "unpackHalf2x16(" .. register(a, n, begin, 1) .. ")"
%   local minimum = formats.has_minimum(a.place.blocks) and " - " .. of_a .. ".y * " .. of_b(".y") or ""
            sum_${n}_${m} += ${of_a}${which == 0 and ".x" or ".y"} * ${of_b(".x")} * ${number(width)}(${name})${minimum};
% end
%
% -- One step, written out: the products of `step` elements of K with all registers, in the order of the loops.
% local function products_by(q, at)
        {
%   if not (a.staged and b.staged) then
            const uint k = ${sum("k_tile", at)};
%   end
%   for _, x in ipairs(operands) do
%     if not x.early then begin_step(q, x, at) end
%   end
%   loaded = {}
%   local extent, stride, index = { n = a.count, m = b.count, k = p.step }, { n = 1, m = width, k = 1 }, {}
%   local function nest(level)
%     local name = p.order[level]
%     for value = 0, extent[name] - 1, stride[name] do
%       index[name] = value
%       if level < 3 then
%         nest(level + 1)
%       else
%         local n, m, k = index.n, index.m, index.k
%         need(q, a, n, k, at)
%         need(q, b, m, k, at)
%         if a.place.packed then
%           product_of_run(n, m, k)
%         else
            ${few}_${n}_${m} += ${product_of(n, m, k)};
%         end
%       end
%     end
%   end
%   nest(1)
        }
% end
%
% -- Few products' sums in f16 go into the sums in f32.
% local function widen()
%   for i = 0, a.count - 1 do
%     for j = 0, b.count - 1, width do
            sum_${i}_${j} += ${glsl.converted("part_" .. i .. "_" .. j, factors, sums, width)};
            part_${i}_${j} = ${glsl.vector(factors, width)}(0);
%     end
%   end
% end
% local function reads_ends(x) return not x.staged and not x.gather end
% local function products(at)
%   by_ends("k_tile", reads_ends(a) or reads_ends(b), function(q) products_by(q, at) end)
%   if p.widen == "step" then widen() end
% end
% local function step(at, next)
%   if not p.early then return products(at) end
        {
%   load_early(true, next)
%   products(at)
%   each_early(function(x, name)
            ${name} = next_${name};
%   end)
        }
% end
%
% -- Shared tiles ------------------------------------------------------------------------------------------------------
%
% -- Where the tiles of an invocation's matrix begin in shared memory.
% local function base(x) return p.together > 1 and "base_" .. x.name or "0" end
%
% -- Where an invocation's chunks begin in a line of the tile.
% local function own_chunk(x) return times("lane_" .. x.name, x.registers // x.chunk) end
%
% -- The pixels of gathered operands by their lines, where they are found once. `q` is the plan, or that within K.
% local pixels = {}
% local function fetch(q, x, r, k)
%   local line = x.gather and text.line(p, x, r)
%   return text.fetch(q, x, r, k, line and (pixels[line] or text.pixel(p, x, line)))
% end
%
% -- Puts a vector of round r into its place: whole chunks when neighbours in memory are neighbours in the tile.
% local function put(x, r, vector, half_tile)
%   local row, at = text.place(p, x, r)
%   local first = sum(base(x), half_tile, times(x.along_k and times(at, x.vector) or row, x.pitch))
%   if not x.along_k and x.vector % x.chunk == 0 then
%     for j = 0, x.vector - 1, x.chunk do
%       local to = sum(first, times(at, x.vector // x.chunk), j // x.chunk)
            tile_${x.name}[${to}] = ${components(vector, x.vector, j, x.chunk)};
%     end
%   else
%     for j = 0, x.vector - 1 do
%       local line = x.along_k and row or sum(times(at, x.vector), j)
%       local chunk = over(line, x.chunk)
%       if x.swizzle then chunk = text.swizzled(x, chunk, at) end
%       local to = sum(first, x.along_k and j * x.pitch or 0, chunk)
%       local component = x.chunk > 1 and "[" .. glsl.modulo(line, x.chunk) .. "]" or ""
            tile_${x.name}[${to}]${component} = ${components(vector, x.vector, j, 1)};
%     end
%   end
% end
%
% -- Fills a tile at once: all rounds, in a loop when they are many.
% local function fill_by(q, x, k, half_tile)
%   local rounds = x.looped and 1 or x.rounds
%   if x.looped then
        for (uint i = 0; i < ${x.rounds}; ++i)
%   end
%   for n = 0, rounds - 1 do
%     local r = x.looped and "i" or n
        ${text.if_any(p, x, r)}{
            const ${stored(x.vector)} v = ${fetch(q, x, r, k)};
%     put(x, r, "v", half_tile)
        }
%   end
% end
% local function fill(x, k, half_tile)
%   by_ends(k, not x.gather, function(q) fill_by(q, x, k, half_tile) end)
% end
%
% -- The same in two halves, the vectors waiting in registers in between.
% local function fetch_ahead(x, k)
%   by_ends(k, not x.gather, function(q)
%     for r = 0, x.rounds - 1 do
        ${text.if_any(p, x, r)}next_${x.name}_${r} = ${fetch(q, x, r, k)};
%     end
%   end)
% end
% local function put_ahead(x, half_tile)
%   for r = 0, x.rounds - 1 do
        ${text.if_any(p, x, r)}{
%     put(x, r, "next_" .. x.name .. "_" .. r, half_tile)
        }
%   end
% end
%
% -- From a tile of halves to the other half, and back.
% local function flip(x)
        read_${x.name} = ${sum(base(x), x.swizzle and "0" or own_chunk(x), "write_" .. x.name)};
        write_${x.name} = ${x.chunks} - write_${x.name};
% end
%
% -- What is not double has one tile, which is filled between two barriers.
% local single = any("stage", "shared") or any("stage", "prefetch")
% local function fill_single(k)
%   each("stage", function(x) fill(x, k, "0") end, "shared")
%   each("stage", function(x) put_ahead(x, "0") end, "prefetch")
% end
%
% -- The last step of a tile, of early operands: all have been read, and the next one's first are.
% local function turn()
%   if single then
        barrier();
%   end
        if (more) {
%   fill_single("k_next")
%   each("stage", function(x)
%     if x.ahead then put_ahead(x, "write_" .. x.name) end
%     flip(x)
%   end, "double")
        }
        barrier();
% end
%
% -- Steps from `at` on, written out, to where the loop goes on.
% local function early_steps(at, body)
%   for n = 0, p.unrolled - 2 do step(sum(at, n * p.step), sum(at, (n + 1) * p.step)) end
%   local last = sum(at, body - p.step)
%   if body == p.depth then
%     turn()
%     return step(last, "0")
%   end
            uint next = ${at} + ${body};
            if (next == ${p.depth}) {
%   turn()
                next = 0;
            }
%   step(last, "next")
% end
%
% -- Constants of an invocation ----------------------------------------------------------------------------------------
%
% local function find_origins()
%   if p.matrices == 1 then return end
%   local exact = p.matrices % p.together == 0
%   if exact then
    const uint matrix = ${text.matrix(p)};
%   else
    const bool has_matrix = ${text.matrix(p)} < ${p.matrices};
    const uint matrix = ${glsl.below(text.matrix(p), p.matrices)};
%   end
%   for _, x in ipairs(operands) do
%     if text.origin_name(p, x) ~= "0" then
    const uint ${text.origin_name(p, x)} = ${text.origin(p, x.place, x.vector)};
%     end
%   end
% end
%
% -- The register lines of an operand that is not staged.
% local function find_register_lines(x)
%   if x.hoisted then
%     for i = 0, x.count - 1 do
    const uvec3 pixel_${x.name}_${i} = ${text.pixel(p, x, text.register_line(x, i))};
%     end
%   elseif not x.gather then
%     local function address(line)
%       return sum(text.origin_name(p, x), x.along_k and times(line, text.pitch(x)) or over(line, x.vector))
%     end
%     if text.is_plain(p.within or p, x) then
    const uint line_${x.name} = ${address(text.register_line(x))};
%     end
%     if not text.is_plain(p, x) then
%       for i = 0, x.count - 1, x.chunk do
    const uint line_${x.name}_${i} = ${address(text.register_line(x, i))};
%       end
%     end
%   end
% end
%
% -- Where an invocation reads, writes and fills the shared tiles.
% local function find_tiles(x)
%   if p.together > 1 then
    const uint base_${x.name} = ${times("gl_LocalInvocationID.z", x.shared_chunks)};
%   end
%   if x.swizzle then
    const uint chunk_${x.name} = ${own_chunk(x)};
%   end
    uint read_${x.name} = ${sum(base(x), x.swizzle and "0" or own_chunk(x))};
%   if x.stage == "double" then
    uint write_${x.name} = ${x.chunks};
%   end
%   if not x.looped then
    const uint row_${x.name} = thread / ${text.row_vectors(p, x)}, place_${x.name} = thread % ${text.row_vectors(p, x)};
%   end
%   for r = 0, x.hoisted and x.rounds - 1 or -1 do
%     local line = text.line(p, x, r)
%     if not pixels[line] then
%       pixels[line] = "pixel_" .. x.name .. "_" .. r
    const uvec3 ${pixels[line]} = ${text.pixel(p, x, line)};
%     end
%   end
% end

void main()
{
    ${text.tile(p)}
% if a.shifted or b.shifted then
    ${text.first(a)}
    ${text.first(b)}
% else
    const uint first_a = tile_row * ${a.tile}, first_b = tile_column * ${b.tile};
% end
    ${text.lanes(p)}
% local part = p.matrices == 1 and "gl_WorkGroupID.z" or glsl.modulo("gl_WorkGroupID.z", parts)
    uint k_tile = ${whole and "0" or times(part, p.depth * p.tiles)};
% find_origins()
% each("staged", find_register_lines, false)
% if any("staged") then
    const uint thread = gl_LocalInvocationIndex${p.together > 1 and " % " .. p.threads or ""};
% end
% each("staged", find_tiles)
% each("ahead", function(x)
%   for r = 0, x.rounds - 1 do
    ${stored(x.vector)} next_${x.name}_${r};
%   end
% end)

% for i = 0, a.count - 1 do
%   for j = 0, b.count - 1, width do
    ${number(width)} sum_${i}_${j} = ${number(width)}(0);
%     if p.widen then
    ${glsl.vector(factors, width)} part_${i}_${j} = ${glsl.vector(factors, width)}(0);
%     end
%   end
% end

% each("ahead", function(x) fetch_ahead(x, "k_tile") end)
% each("stage", function(x)
%   if x.ahead then put_ahead(x, "0") else fill(x, "k_tile", "0") end
% end, "double")
% if p.early then fill_single("k_tile") end
% if any("staged") and (p.early or not single) then
    barrier();
% end
% each_early(function(x, name)
    ${glsl.vector(factors, x.chunk)} ${name};
% end)
% if p.early then
    {
%   load_early(false, "0")
    }
% end
    for (uint tile = 0; tile < ${p.tiles}; ++tile, k_tile += ${p.depth}) {
% if not p.early then fill_single("k_tile") end
% if single and not p.early then
        barrier();
% end
% if any("ahead") or any("stage", "double") or p.early then
        const bool more = tile < ${p.tiles - 1};
        const uint k_next = k_tile + ${p.depth};
        if (more) {
%   each("ahead", function(x) fetch_ahead(x, "k_next") end)
%   each("stage", function(x)
%     if x.looped then fill(x, "k_next", "write_" .. x.name) end
%   end, "double")
        }
% end
% local body, at = p.step * p.unrolled, "0"
% if p.unrolled < p.steps then
%   at = "i"
        for (uint i = 0; i < ${p.depth}; i += ${body}) {
% end
% if p.early then
%   early_steps(at, body)
% elseif p.hint then
        [[unroll]] for (uint j = 0; j < ${body}; j += ${p.step})${p.widen == "step" and " {" or ""}
%   products(sum(at, "j"))
%   if p.widen == "step" then
        }
%   end
% else
%   for n = 0, p.unrolled - 1 do products(sum(at, n * p.step)) end
% end
% if p.unrolled < p.steps then
        }
% end
% if p.widen == "tile" then widen() end
% each(p.early and "none" or "stage", function(x)
%   if x.ahead then
        if (more) {
%     put_ahead(x, "write_" .. x.name)
        }
%   end
%   flip(x)
% end, "double")
% if any("staged") and not p.early then
        barrier();
% end
    }

% -- The sums of register line i from column j on, one vector.
% local function result_vector(i, j)
%   if p.vector_c <= width then
%     return components("sum_" .. i .. "_" .. j // width * width, width, j % width, p.vector_c)
%   end
%   local vectors = {}
%   for n = j, j + p.vector_c - 1, width do vectors[#vectors + 1] = "sum_" .. i .. "_" .. n end
%   return number(p.vector_c) .. "(" .. table.concat(vectors, ", ") .. ")"
% end
%
% -- Rows and columns of C lie apart as the result does, those of parts without gaps.
% local function vector_of(j) return over(sum("column", text.offset(b, j)), p.vector_c) end
% local pitch = (whole and result.pitch or product.M) // p.vector_c
% local origin = whole and text.origin(p, result, p.vector_c) or text.origin_of_parts(p, p.vector_c)
    const uint row = ${sum("first_a", times("lane_a", a.registers))};
    const uint column = ${sum("first_b", times("lane_b", b.registers))};
% local c_row = whole and "row" or sum(times(text.part(p), product.N), "row")
% local far = whole and result.columns -- columns of several images
    const uint corner = ${sum(origin, times(c_row, pitch), far and "0" or over("column", p.vector_c))};
% if p.matrices % p.together ~= 0 then
    if (has_matrix) {
% end
% for j = 0, far and b.count - 1 or -1, p.vector_c do
    const uint column_${j} = ${text.column(p, vector_of(j), p.vector_c)};
% end
% for i = 0, a.count - 1 do
%   local is_stored = text.is_stored(a, sum("row", text.offset(a, i)))
%   if is_stored then
    if (${is_stored}) {
%   end
%   for j = 0, b.count - 1, p.vector_c do
%     local at = sum("corner", far and "column_" .. j or text.offset(b, j) // p.vector_c, text.offset(a, i) * pitch)
%     local value = result_vector(i, j)
%     if whole then
%       value = last.call(value, text.bias(p, sum("row", text.offset(a, i)), vector_of(j), p.vector_c), at)
%     else
%       value = glsl.converted(value, sums, output, p.vector_c)
%     end
%     local of_column = text.is_stored(b, sum("column", text.offset(b, j)))
        ${of_column and "if (" .. of_column .. ") " or ""}matrix_c[${at}] = ${value};
%   end
%   if is_stored then
    }
%   end
% end
% if p.matrices % p.together ~= 0 then
    }
% end
}
