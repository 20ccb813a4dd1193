#version 450
// C[${N},${M}] = A B over ${K}: ${a.tile} x ${b.tile} elements of C a workgroup, ${a.count} x ${b.count} an invocation.
% -- One kernel for all schedules of lua/matmul.lua, which explains the words. `x` is an operand, a or b, throughout.
% local half = op.type == "f16"
% local operands = { a, b }
%
% -- Types: of n neighbours in memory, and of n numbers in registers.
% local function stored(n) return n == 1 and (half and "float16_t" or "float") or (half and "f16vec" or "vec") .. n end
% local function number(n) return n == 1 and "float" or "vec" .. n end
%
% -- Text of a sum, without terms that are 0.
% local function sum(...)
%   local text, constant = nil, 0
%   for _, term in ipairs { ... } do
%     if type(term) == "number" then constant = constant + term
%     elseif term ~= "0" then text = text and text .. " + " .. term or term end
%   end
%   if not text then return string.format("%d", constant) end
%   return constant == 0 and text or string.format("%s + %d", text, constant)
% end
%
% -- The components first .. first + n - 1 of a vector of `width`.
% local function components(vector, width, first, n)
%   if width == n then return vector end
%   return vector .. "." .. string.sub("xyzw", first + 1, first + n)
% end
% if half then
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
% end
% if hint then
#extension GL_EXT_control_flow_attributes : require
% end

layout(local_size_x = ${b.lanes}, local_size_y = ${a.lanes}) in;

layout(std430, set = 0, binding = 0) restrict readonly buffer MatrixA { ${stored(a.vector)} matrix_a[]; };
layout(std430, set = 0, binding = 1) restrict readonly buffer MatrixB { ${stored(b.vector)} matrix_b[]; };
% if parts == 1 then
layout(std430, set = 0, binding = 2) restrict writeonly buffer MatrixC { ${stored(vector_c)} matrix_c[]; };
% else
layout(std430, set = 0, binding = 3) restrict writeonly buffer Parts { ${number(vector_c)} matrix_c[]; };
% end

% for _, x in ipairs(operands) do
%   if x.staged then
shared ${stored(x.chunk)} tile_${x.name}[${x.shared_chunks}]; // ${depth} lines of ${x.tile} elements
%   end
% end

void main()
{
    // The workgroup's tile of C.
% if walk == 1 then
    const uint tile_row = gl_WorkGroupID.y, tile_column = gl_WorkGroupID.x;
% elseif walk == 0 then
    const uint tile_row = gl_WorkGroupID.x, tile_column = gl_WorkGroupID.y;
% else
    const uint group = gl_WorkGroupID.y * ${b.tiles} + gl_WorkGroupID.x;
    const uint band = group / ${walk * b.tiles} * ${walk}, place = group % ${walk * b.tiles};
%   local height = a.tiles % walk == 0 and walk or "min(" .. walk .. ", " .. a.tiles .. " - band)"
    const uint height = ${height};
    const uint tile_row = band + place % height, tile_column = place / height;
% end
    const uint first_a = tile_row * ${a.tile}, first_b = tile_column * ${b.tile};
    const uint lane_a = ${a.lanes == 1 and "0" or "gl_LocalInvocationID.y"}, lane_b = gl_LocalInvocationID.x;
% if a.staged or b.staged then
    const uint thread = gl_LocalInvocationIndex;
% end
    uint k_tile = ${parts == 1 and "0" or "gl_WorkGroupID.z * " .. depth * tiles};

% -- Registers -------------------------------------------------------------------------------------------------------
%
% -- How far register i is from the first one of its invocation, in lines.
% local function offset(x, i) return i // x.registers * x.lanes * x.registers + i % x.registers end
%
% -- Element k of register line i lies in a chunk of neighbours: the chunk's first line and k, and its width.
% local function chunk(x, i, k)
%   if x.staged then return i // x.chunk * x.chunk, k, x.chunk end
%   if x.along_k then return i, k // x.vector * x.vector, x.vector end
%   return i // x.vector * x.vector, k, x.vector
% end
% local function across(x) return (x.staged and x.chunk) or (x.along_k and 1 or x.vector) end
% local width = across(b)
%
% -- Text of element k of register line i, or of its `n` neighbours.
% local function register(x, i, k, n)
%   local first_i, first_k, size = chunk(x, i, k)
%   return components(x.name .. "_" .. first_i .. "_" .. first_k, size, i - first_i + k - first_k, n)
% end
%
% -- Elements between neighbours in the slow direction of the buffer, in vectors.
% local function pitch(x) return x.pitch_in_memory // x.vector end
%
% -- Where a step's registers come from: x_at is the first, the others lie at constant distances unless clamped.
% local function begin_step(x, k)
%   if x.staged then
        const uint ${x.name}_at = ${sum("read_" .. x.name, k ~= "0" and "(" .. k .. ") * " .. x.pitch or 0)};
%   elseif exact_k and x.exact then
        const uint ${x.name}_at = ${sum("line_" .. x.name, x.along_k and "k / " .. x.vector or "k * " .. pitch(x))};
%   end
% end
%
% -- Loads the chunk that holds element k of register line i, the first time it is asked for.
% local loaded
% local function need(x, i, k)
%   local i, k, size = chunk(x, i, k)
%   local name = x.name .. "_" .. i .. "_" .. k
%   if loaded[name] then return end
%   loaded[name] = true
%   if x.staged then
        const ${number(size)} ${name} = ${number(size)}(tile_${x.name}[${sum(x.name .. "_at", k * x.pitch + offset(x, i) // x.chunk)}]);
%   elseif exact_k and x.exact then
%     local distance = x.along_k and offset(x, i) * pitch(x) + k // x.vector or k * pitch(x) + offset(x, i) // x.vector
        const ${number(size)} ${name} = ${number(size)}(matrix_${x.name}[${sum(x.name .. "_at", distance)}]);
%   else
%     local line = x.exact and sum("line_" .. x.name, x.along_k and offset(x, i) * pitch(x) or offset(x, i) // x.vector)
%       or "line_" .. x.name .. "_" .. i
%     local at = sum("k", k)
%     if not exact_k then at = "min(" .. at .. ", " .. K - (x.along_k and x.vector or 1) .. ")" end
%     at = x.along_k and "(" .. at .. ") / " .. x.vector or "(" .. at .. ") * " .. pitch(x)
%     local load = number(size) .. "(matrix_" .. x.name .. "[" .. line .. " + " .. at .. "])"
%     if not exact_k then load = sum("k", k) .. " < " .. K .. " ? " .. load .. " : " .. number(size) .. "(0)" end
        const ${number(size)} ${name} = ${load};
%   end
% end
%
% -- One step: the products of `step` elements of K with all registers, in the order of the loops.
% local function product(k)
        {
%   if not (a.staged and b.staged) then
        const uint k = ${sum("k_tile", k)};
%   end
%   begin_step(a, k)
%   begin_step(b, k)
%   loaded = {}
%   local extent = { n = { a.count, 1 }, m = { b.count, width }, k = { step, 1 } }
%   local at = {}
%   local function nest(level)
%     local name = order[level]
%     for value = 0, extent[name][1] - 1, extent[name][2] do
%       at[name] = value
%       if level < 3 then
%         nest(level + 1)
%       else
%         need(a, at.n, at.k)
%         need(b, at.m, at.k)
        sum_${at.n}_${at.m} += ${register(a, at.n, at.k, 1)} * ${register(b, at.m, at.k, width)};
%       end
%     end
%   end
%   nest(1)
        }
% end
%
% -- Cooperative loads ------------------------------------------------------------------------------------------------
%
% -- Vectors of a tile are numbered in the order of memory; round r gives vector thread + r * threads to each invocation.
% -- Returns how far it is in the slow and in the fast direction of the buffer, as text.
% local function place(x, r)
%   local row = (x.along_k and depth or x.tile) // x.vector
%   if type(r) == "number" and threads % row == 0 then
%     return sum("thread / " .. row, r * (threads // row)), "thread % " .. row
%   elseif type(r) == "number" and row % threads == 0 then
%     local turns = row // threads
%     return sum(r // turns), sum("thread", r % turns * threads)
%   end
%   local number = type(r) == "number" and sum("thread", r * threads) or "thread + " .. r .. " * " .. threads
%   return "(" .. number .. ") / " .. row, "(" .. number .. ") % " .. row
% end
%
% -- Text of the vector that invocation `thread` reads in round r of the tile at `k`.
% local function fetch(x, r, k)
%   local slow, fast = place(x, r)
%   local line = sum("first_" .. x.name .. (x.along_k and "" or " / " .. x.vector), x.along_k and slow or fast)
%   local at = sum(k .. (x.along_k and " / " .. x.vector or ""), x.along_k and fast or slow)
%   local inside = "(" .. at .. ") < " .. (x.along_k and K // x.vector or K)
%   if not x.exact then line = "min(" .. line .. ", " .. (x.along_k and x.lines or x.lines // x.vector) - 1 .. ")" end
%   if not exact_k then at = "min(" .. at .. ", " .. (x.along_k and K // x.vector or K) - 1 .. ")" end
%   if x.along_k then line = "(" .. line .. ") * " .. pitch(x) else at = "(" .. at .. ") * " .. pitch(x) end
%   local load = "matrix_" .. x.name .. "[" .. line .. " + " .. at .. "]"
%   return exact_k and load or inside .. " ? " .. load .. " : " .. stored(x.vector) .. "(0)"
% end
%
% -- Puts a vector read in round r where it belongs in shared memory, k-major.
% local function put(x, r, vector, half_tile)
%   local slow, fast = place(x, r)
%   local line = x.along_k and slow or "(" .. fast .. ") * " .. x.vector
%   local k = x.along_k and "(" .. fast .. ") * " .. x.vector or slow
%   local base = sum(half_tile, "(" .. k .. ") * " .. x.pitch)
%   if not x.along_k and x.vector % x.chunk == 0 then
%     for j = 0, x.vector - 1, x.chunk do
            tile_${x.name}[${base} + (${line}) / ${x.chunk}${j > 0 and " + " .. j // x.chunk or ""}] = ${components(vector, x.vector, j, x.chunk)};
%     end
%   else
%     for j = 0, x.vector - 1 do
%       local to = sum(base, x.along_k and j * x.pitch or 0)
%       local at = sum(line, x.along_k and 0 or j)
            tile_${x.name}[${to} + (${at}) / ${x.chunk}]${x.chunk > 1 and "[(" .. at .. ") % " .. x.chunk .. "]" or ""} = ${components(vector, x.vector, j, 1)};
%     end
%   end
% end
%
% -- Whether all invocations have a vector in round r, and what to ask when not.
% local function full(x, r) return (r + 1) * threads <= x.vectors end
% local function has(x, r) return sum("thread", r * threads) .. " < " .. x.vectors end
%
% local function fetch_ahead(x, k)
%   for r = 0, x.rounds - 1 do
        ${full(x, r) and "" or "if (" .. has(x, r) .. ") "}next_${x.name}_${r} = ${fetch(x, r, k)};
%   end
% end
% local function put_ahead(x, half_tile)
%   for r = 0, x.rounds - 1 do
        ${full(x, r) and "" or "if (" .. has(x, r) .. ") "}{
%     put(x, r, "next_" .. x.name .. "_" .. r, half_tile)
        }
%   end
% end
% local function copy(x, r, k, half_tile)
            const ${stored(x.vector)} v = ${fetch(x, r, k)};
%   put(x, r, "v", half_tile)
% end
% local function load_tile(x, k, half_tile)
%   if x.looped then
        for (uint i = 0; i < ${x.rounds}; ++i) {
            ${x.vectors % threads == 0 and "" or "if (thread + i * " .. threads .. " < " .. x.vectors .. ") "}{
%     copy(x, "i", k, half_tile)
            }
        }
%   else
%     for r = 0, x.rounds - 1 do
        ${full(x, r) and "" or "if (" .. has(x, r) .. ") "}{
%       copy(x, r, k, half_tile)
        }
%     end
%   end
% end
%
% -- The program ------------------------------------------------------------------------------------------------------
% local function each(condition, action)
%   for _, x in ipairs(operands) do
%     if condition(x) then action(x) end
%   end
% end
% local function is(name) return function(x) return x.stage == name end end
% local function ahead(x) return x.ahead end
% local function staged(x) return x.staged end

% each(function(x) return not x.staged end, function(x)
%   local first = "first_" .. x.name .. " + lane_" .. x.name .. " * " .. x.registers
%   if x.exact then
    const uint line_${x.name} = (${first}) ${x.along_k and "* " .. pitch(x) or "/ " .. x.vector};
%   else
%     for i = 0, x.count - 1, across(x) do
%       local line = "min(" .. sum(first, offset(x, i)) .. ", " .. x.lines - (x.along_k and 1 or x.vector) .. ")"
    const uint line_${x.name}_${i} = ${line} ${x.along_k and "* " .. pitch(x) or "/ " .. x.vector};
%     end
%   end
% end)
% each(staged, function(x)
    ${x.stage == "double" and "" or "const "}uint read_${x.name} = lane_${x.name} * ${x.registers // x.chunk};
% end)
% each(ahead, function(x)
%   for r = 0, x.rounds - 1 do
    ${stored(x.vector)} next_${x.name}_${r};
%   end
% end)
% each(is("double"), function(x)
    uint write_${x.name} = ${x.chunks};
% end)

% for i = 0, a.count - 1 do
%   for j = 0, b.count - 1, width do
    ${number(width)} sum_${i}_${j} = ${number(width)}(0);
%   end
% end

% each(ahead, function(x) fetch_ahead(x, "k_tile") end)
% each(is("double"), function(x)
%   if x.looped then load_tile(x, "k_tile", "0") else put_ahead(x, "0") end
% end)
% local single = is("shared")(a) or is("prefetch")(a) or is("shared")(b) or is("prefetch")(b)
% if (a.staged or b.staged) and not single then
    barrier();
% end
    for (uint tile = 0; tile < ${tiles}; ++tile, k_tile += ${depth}) {
% each(is("shared"), function(x) load_tile(x, "k_tile", "0") end)
% each(is("prefetch"), function(x) put_ahead(x, "0") end)
% if single then
        barrier();
% end
% if a.ahead or b.ahead or is("double")(a) or is("double")(b) then
        if (tile < ${tiles - 1}) {
            const uint k_next = k_tile + ${depth};
%   each(ahead, function(x) fetch_ahead(x, "k_next") end)
%   each(is("double"), function(x)
%     if x.looped then load_tile(x, "k_next", "write_" .. x.name) end
%   end)
        }
% end
% local body = step * unrolled
% local at = "0"
% if unrolled < steps then
        for (uint i = 0; i < ${depth}; i += ${body}) {
%   at = "i"
% end
% if unrolled > 1 and hint then
        [[unroll]] for (uint j = 0; j < ${body}; j += ${step})
%   product(sum(at, "j"))
% else
%   for n = 0, unrolled - 1 do
%     product(sum(at, n * step))
%   end
% end
% if unrolled < steps then
        }
% end
% local function double_ahead(x) return x.ahead and x.stage == "double" end
% if double_ahead(a) or double_ahead(b) then
        if (tile < ${tiles - 1}) {
%   each(double_ahead, function(x) put_ahead(x, "write_" .. x.name) end)
        }
% end
% each(is("double"), function(x)
%   local flip = x.chunks
        write_${x.name} = ${flip} - write_${x.name};
        read_${x.name} = ${x.registers // x.chunk} * lane_${x.name} + ${flip} - write_${x.name};
% end)
% if a.staged or b.staged then
        barrier();
% end
    }

% -- The result -------------------------------------------------------------------------------------------------------
% local function result(i, j)
%   if vector_c <= width then
%     return components("sum_" .. i .. "_" .. j // width * width, width, j % width, vector_c)
%   end
%   local parts = {}
%   for n = j, j + vector_c - 1, width do parts[#parts + 1] = "sum_" .. i .. "_" .. n end
%   return number(vector_c) .. "(" .. table.concat(parts, ", ") .. ")"
% end
    const uint row = first_a + lane_a * ${a.registers}, column = first_b + lane_b * ${b.registers};
    const uint corner = ${sum(parts > 1 and "(gl_WorkGroupID.z * " .. N .. " + row) * " .. M // vector_c or "row * " .. M // vector_c, "column / " .. vector_c)};
% for i = 0, a.count - 1 do
%   if not a.exact then
    if (${sum("row", offset(a, i))} < ${N}) {
%   end
%   for j = 0, b.count - 1, vector_c do
%     local value = half and parts == 1 and stored(vector_c) .. "(" .. result(i, j) .. ")" or result(i, j)
        ${b.exact and "" or "if (" .. sum("column", offset(b, j)) .. " < " .. M .. ") "}matrix_c[${sum("corner", offset(a, i) * (M // vector_c) + offset(b, j) // vector_c)}] = ${value};
%   end
%   if not a.exact then
    }
%   end
% end
}
