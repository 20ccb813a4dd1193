-- Where the elements of a product lie: the addresses that gemm.comp and reduce.comp write, as texts. `p` is a plan of
-- gemm_plan.lua, `x` one of its operands. The texts name constants of the kernel: matrix, first_x, lane_x, origin_x,
-- thread, row_x, place_x.
--
-- A gathered operand is the image of a convolution, an element being what a tap of the kernel sees under an output
-- pixel. Its lines are output pixels, its K goes over channels and taps as the weights lie in memory. `gather`:
--
--     channels_last           nhwc, K = taps x channels; else nchw, K = channels x taps
--     channels, all_channels  of one group, of the image
--     height, width, out_height, out_width, kernel_h, kernel_w, stride, padding, extra, dilation
--
-- The template turns a line into a `pixel`: (first element, row, column) of the image under it, then pixel and k into
-- an element. All are unsigned and wrap: a row or column above the image is very large, so that one comparison finds
-- what lies outside, which is zero.

local glsl = include "glsl.lua"
local sum, times, over, modulo, components = glsl.sum, glsl.times, glsl.over, glsl.modulo, glsl.components

local text = {}

-- The matrix of an invocation, for p.matrices > 1; beyond the last where p.together does not divide them.
function text.matrix(p)
  local z = over("gl_WorkGroupID.z", p.parts)
  return p.together == 1 and z or sum(times(z, p.together), "gl_LocalInvocationID.z")
end

-- Which part of a split product an invocation computes, counted over all matrices.
function text.part(p)
  if p.together == 1 then return "gl_WorkGroupID.z" end
  return sum(times("matrix", p.parts), modulo("gl_WorkGroupID.z", p.parts))
end

-- Which tile of C a workgroup computes: statements that say tile_row and tile_column.
function text.tile(p)
  if p.walk == 1 then return "const uint tile_row = gl_WorkGroupID.y, tile_column = gl_WorkGroupID.x;" end
  if p.walk == 0 then return "const uint tile_row = gl_WorkGroupID.x, tile_column = gl_WorkGroupID.y;" end
  local rows, columns, walk = p.a.tiles, p.b.tiles, p.walk
  local height = rows % walk == 0 and walk or "min(" .. walk .. ", " .. rows .. " - band)"
  return string.format([[
// Workgroups go down bands of %d rows of tiles, so that those that run together share what they read.
    const uint group = gl_WorkGroupID.y * %d + gl_WorkGroupID.x;
    const uint band = group / %d * %d, in_band = group %% %d;
    const uint height = %s;
    const uint tile_row = band + in_band %% height, tile_column = in_band / height;]],
    walk, columns, walk * columns, walk, walk * columns, height)
end

-- The first line of an operand's tile: statements.
function text.first(x)
  local of_tile = times(x.name == "a" and "tile_row" or "tile_column", x.tile)
  if not x.shifted then return "const uint first_" .. x.name .. " = " .. of_tile .. ";" end
  return string.format("const uint own_%s = %s, first_%s = min(own_%s, %d);", x.name, of_tile, x.name, x.name, x.lines - x.tile)
end

-- The condition under which a line is stored; nil: always. Lines before a shifted tile's own are the neighbour's.
function text.is_stored(x, line)
  if x.shifted then return line .. " >= own_" .. x.name end
  return not x.exact and line .. " < " .. x.lines or nil
end

-- Where an invocation stands in the tile: statements that say lane_a and lane_b.
function text.lanes(p)
  local warp = p.warp
  if not warp then
    return "const uint lane_a = " .. (p.a.lanes == 1 and "0" or "gl_LocalInvocationID.y") .. ", lane_b = gl_LocalInvocationID.x;"
  end
  return string.format([[
// A subgroup is a tile of %d x %d invocations.
    const uint subgroup = gl_LocalInvocationID.x / %d, in_subgroup = gl_LocalInvocationID.x %% %d;
    const uint lane_a = %s, lane_b = %s;]],
    warp.rows, warp.columns, warp.size, warp.size,
    sum(times(over("subgroup", warp.across), warp.rows), over("in_subgroup", warp.columns)),
    sum(times(modulo("subgroup", warp.across), warp.columns), modulo("in_subgroup", warp.columns)))
end

-- Where an invocation's matrix begins, in units of `unit` elements. `place`: of an operand, the result or its bias.
function text.origin(p, place, unit)
  local first = (place.first or 0) // unit
  if p.matrices == 1 or place.from_matrix == 0 or place.cycle == 1 then return sum(first) end
  local cycles = place.cycle and place.cycle < p.matrices
  return sum(times(cycles and modulo("matrix", place.cycle) or "matrix", place.from_matrix // unit), first)
end

-- Where the parts of a split product begin, in vectors of n.
function text.origin_of_parts(p, n) return (p.product.kept or 0) // n end

-- The name of that constant, for an operand.
function text.origin_name(p, x)
  return text.origin(p, x.place, x.vector) == "0" and "0" or "origin_" .. x.name
end

-- Vectors from one row of the buffer to the next.
function text.pitch(x) return x.place.pitch // x.vector end

-- Registers -----------------------------------------------------------------------------------------------------------

-- How far register line i is from the first one of its invocation.
function text.offset(x, i) return i // x.registers * x.lanes * x.registers + i % x.registers end

-- Whether addresses need no clamping, so that the chunks of a step lie at constant distances from x_at.
function text.is_plain(p, x) return x.staged or not x.gather and x.exact and p.exact_k end

-- The chunk with element k of register line i: its first line, its first k, its width. Elements are read in chunks:
-- neighbours across the lines from shared memory, from the buffer as they lie there.
function text.chunk(x, i, k)
  if x.along_k and not x.staged then return i, k // x.vector * x.vector, x.vector end
  return i // x.chunk * x.chunk, k, x.chunk
end

-- Register line i of an operand that is not staged.
function text.register_line(x, i)
  local line = sum("first_" .. x.name, times("lane_" .. x.name, x.registers), i and text.offset(x, i) or 0)
  if x.exact or not i then return line end
  return "min(" .. line .. ", " .. x.lines - (x.along_k and 1 or x.vector) .. ")"
end

-- The image under a line of a gathered operand.
function text.pixel(p, x, line) return "pixel_of_" .. x.name .. "(" .. text.origin_name(p, x) .. ", " .. line .. ")" end

-- Vector `element` along K of the image under a pixel.
local function gathered(x, pixel, element) return "gathered_" .. x.name .. "(" .. pixel .. ", " .. element .. ")" end

-- What n neighbours are read and written as: vectors of elements, or of words, which is all that matrix units take from
-- an array but single elements.
function text.moved(p, n)
  local element = p.element or p.product.op.type
  if not p.in_words or n == 1 then return element, n end
  return "word", n * glsl.bytes(element) // 4
end

-- The functions of a gathered operand, as GLSL: the image under an output pixel, and what the kernel sees there.
function text.image(p, x)
  local g, of_rows = x.gather, x.place.rows
  local pixels, rows, taps = g.out_height * g.out_width, g.height * g.width, g.kernel_h * g.kernel_w
  local channels, all_channels = g.channels // x.vector, g.all_channels // x.vector
  local function start(index) return times(index, g.stride) .. (g.padding > 0 and " - " .. g.padding or "") end
  local element, n = p.product.op.type, x.vector
  if not of_rows then element, n = text.moved(p, x.vector) end
  local inside = g.padding + g.extra > 0 and "row < " .. g.height .. " && column < " .. g.width or ""
  if not p.exact_k then
    inside = "k < " .. p.product.K * (of_rows and 4 or 1) // x.vector .. (inside == "" and "" or " && " .. inside)
  end
  local at = g.channels_last and "(row * " .. g.width .. " + column) * " .. all_channels .. " + channel"
    or "(channel * " .. g.height .. " + row) * " .. g.width .. " + column"
  at = "pixel.x + " .. at
  local function value(at) return "matrix_" .. x.name .. "[" .. at .. "]" end
  local found = inside == "" and value(at) or glsl.guarded(inside, value(glsl.below(at, x.place.elements // x.vector)), element, n)
  local lines = {
    "// The image under an output pixel: its first element, row and column. What lies outside wraps to large numbers.",
    "uvec3 pixel_of_" .. x.name .. "(uint origin, uint line)",
    "{",
    string.format("    const uint image = line / %d, row = line %% %d / %d, column = line %% %d;", pixels, pixels, g.out_width,
      g.out_width),
    string.format("    return uvec3(origin + image * %d, %s, %s);", rows * all_channels, start("row"), start("column")),
    "}",
    "",
    "// " .. (of_rows and "Byte" or "Vector") .. " k of what the kernel sees there.",
    string.format("%s %s_%s(uvec3 pixel, uint k)", glsl.vector(element, n), of_rows and "byte" or "gathered", x.name),
    "{",
    string.format("    const uint channel = %s, tap = %s;", g.channels_last and modulo("k", channels) or over("k", taps),
      g.channels_last and over("k", channels) or modulo("k", taps)),
    string.format("    const uint row = %s;", sum("pixel.y", times(over("tap", g.kernel_w), g.dilation))),
    string.format("    const uint column = %s;", sum("pixel.z", times(modulo("tap", g.kernel_w), g.dilation))),
    "    return " .. found .. ";",
    "}",
  }
  if of_rows then
    local bytes = {}
    for i = 0, 3 do bytes[#bytes + 1] = "byte_" .. x.name .. "(pixel, " .. sum("4 * k", i) .. ")" end
    lines[#lines + 1] = ""
    lines[#lines + 1] = string.format("uint gathered_%s(uvec3 pixel, uint k) { return uint(pack32(i8vec4(%s))); }", x.name,
      table.concat(bytes, ", "))
  end
  return table.concat(lines, "\n")
end

-- A value of n elements where the element lies within K, and zero else.
local function within(p, inside, value, n)
  return p.exact_k and value or glsl.guarded(inside, value, text.moved(p, n))
end

local function gathered_chunk(p, x, i, element, n)
  local elements = {}
  for j = i, i + n - 1 do
    local pixel = x.hoisted and "pixel_" .. x.name .. "_" .. j or text.pixel(p, x, text.register_line(x, j))
    elements[#elements + 1] = gathered(x, pixel, element)
  end
  return n == 1 and elements[1] or glsl.vector(p.element, n) .. "(" .. table.concat(elements, ", ") .. ")"
end

-- What is read of an operand at an index in vectors.
local function memory(p, x, at)
  if x.place.packed then return "words_" .. x.name .. "(" .. at .. ")" end
  if x.place.blocks then return glsl.converted("weights_" .. x.name .. "(" .. at .. ")", "f32", p.element, x.vector) end
  return x.place.rows and "quads_" .. x.name .. "(" .. at .. ")" or "matrix_" .. x.name .. "[" .. at .. "]"
end

-- Where chunk `chunk` of a line of a shared tile lies: see gemm_plan.lua. `turn`: k / vector.
function text.swizzled(x, chunk, turn)
  local by = tonumber(turn) and math.tointeger(tonumber(turn)) % x.swizzle or modulo(turn, x.swizzle)
  return by == 0 and chunk or "(" .. chunk .. " ^ " .. (tonumber(by) and by or glsl.bracketed(by)) .. ")"
end

-- Of line at + k. Groups of virtual lines that lie whole periods apart do so after that, too.
local function swizzled_chunk(p, x, i, at, k)
  local far, near = i // x.registers * x.lanes * x.registers // x.chunk, i % x.registers // x.chunk
  if far % x.swizzle ~= 0 then far, near = 0, far + near end
  local known = tonumber(at) and math.tointeger(tonumber(at)) or p.step % (x.vector * x.swizzle) == 0 and 0
  local turn = known and tostring((known + k) // x.vector) or over(sum(at, k), x.vector)
  return sum(text.swizzled(x, sum("chunk_" .. x.name, near), turn), far)
end

-- The chunk that begins at element k of register line i, of `size` elements, as it is stored; the step begins at `at`.
function text.read(p, x, i, k, size, at)
  local here = x.name .. "_at"
  if x.swizzle then return "tile_" .. x.name .. "[" .. sum(here, swizzled_chunk(p, x, i, at, k), k * x.pitch) .. "]" end
  if x.staged then return "tile_" .. x.name .. "[" .. sum(here, k * x.pitch + text.offset(x, i) // x.chunk) .. "]" end
  if x.gather and x.along_k then return gathered_chunk(p, x, i, over(sum("k", k), x.vector), 1) end
  if x.gather then return gathered_chunk(p, x, i, sum("k", k), size) end
  if text.is_plain(p, x) and x.along_k then
    return memory(p, x, sum(here, text.offset(x, i) * text.pitch(x) + k // x.vector))
  elseif text.is_plain(p, x) then
    return memory(p, x, sum(here, k * text.pitch(x) + text.offset(x, i) // x.vector))
  end
  local element, K = sum("k", k), p.product.K
  local at = p.exact_k and element or "min(" .. element .. ", " .. K - (x.along_k and x.vector or 1) .. ")"
  at = x.along_k and over(at, x.vector) or times(at, text.pitch(x))
  return within(p, element .. " < " .. K, memory(p, x, sum("line_" .. x.name .. "_" .. i, at)), size)
end

-- Shared tiles --------------------------------------------------------------------------------------------------------

-- In round r an invocation brings vector thread + r * threads of the tile, counted as the tile lies in memory: in
-- rows of `row_vectors`. In a loop of rounds r is "i". Of a tile that is transposed (coop.lua) blocks of vectors are counted
-- so, or where neighbours follow each other along K, in columns.
function text.row_vectors(p, x)
  return x.k_first and p.depth // x.block or (x.along_k and p.depth or x.tile) // x.vector
end

local function vector_of_round(p, r)
  return r == "i" and "thread + i * " .. p.threads or sum("thread", r * p.threads)
end

local function place_in_order(p, x, r)
  local row, threads = text.row_vectors(p, x), p.threads
  if r ~= "i" and threads % row == 0 then
    return sum("row_" .. x.name, r * (threads // row)), "place_" .. x.name
  elseif r ~= "i" and row % threads == 0 then
    local turns = row // threads
    return sum("row_" .. x.name, r // turns), sum("place_" .. x.name, r % turns * threads)
  end
  local vector = vector_of_round(p, r)
  return over(vector, row), modulo(vector, row)
end

-- The row and the place in it; where rows and rounds fit, rounds lie at constant distances.
function text.place(p, x, r)
  local row, at = place_in_order(p, x, r)
  if x.k_first then return at, row end
  return row, at
end

-- The condition under which an invocation has a vector in round r: not every one has in the last round.
function text.if_any(p, x, r)
  local is_full = x.vectors % p.threads == 0 or r ~= "i" and r < x.rounds - 1
  return is_full and "" or "if (" .. vector_of_round(p, r) .. " < " .. x.vectors .. ") "
end

-- The line that is brought in round r, in vectors where neighbours in memory are lines; never beyond the last.
function text.line(p, x, r)
  local row, at = text.place(p, x, r)
  local first = "first_" .. x.name
  local line = sum(x.along_k and first or over(first, x.vector), x.along_k and row or at)
  return x.exact and line or glsl.below(line, x.along_k and x.lines or x.lines // x.vector)
end

-- The vector that is brought in round r for the tile at `k`. `pixel` is the image under its line, if it is gathered; `j`
-- which vector of a block it is.
function text.fetch(p, x, r, k, pixel, j)
  local row, at = text.place(p, x, r)
  if j then row = sum(times(row, x.block), j) end
  local element = sum(x.along_k and over(k, x.vector) or k, x.along_k and at or row)
  if x.gather then return gathered(x, pixel, element) end
  local line, vectors = text.line(p, x, r), x.along_k and p.product.K // x.vector or p.product.K
  local inside = element .. " < " .. vectors
  if not p.exact_k then element = glsl.below(element, vectors) end
  if x.along_k then line = times(line, text.pitch(x)) else element = times(element, text.pitch(x)) end
  local value = memory(p, x, sum(text.origin_name(p, x), line, element))
  return within(p, inside, value, x.vector)
end

-- Line `line` of a block that is transposed, as one vector along K. `names`: its vectors of n lines, one for each element
-- of K, as they are moved.
function text.turned(p, names, n, line)
  local element = p.product.op.type
  local per_word, bits = 4 // glsl.bytes(element), 8 * glsl.bytes(element)
  local function pack(e)
    if element == "f32" then return n == 1 and "floatBitsToUint(" .. e[1] .. ")" or e[1] end
    if element == "f16" then return "packFloat2x16(f16vec2(" .. table.concat(e, ", ") .. "))" end
    if element == "i8" then return "uint(pack32(i8vec4(" .. table.concat(e, ", ") .. ")))" end
    for i, value in ipairs(e) do e[i] = i == 1 and value or value .. " << " .. (i - 1) * bits end
    return "(" .. table.concat(e, " | ") .. ")"
  end
  local function of(name)
    local is_whole = element ~= "f32" and element ~= "f16" and element ~= "i8" -- whole numbers that hold bits, or u8
    if n == 1 then return is_whole and "uint(" .. name .. ")" or name end
    local word, at = components(name, n // per_word, line // per_word, 1), line % per_word
    if element == "f16" then return "unpackFloat2x16(" .. word .. ")" .. (at == 0 and ".x" or ".y") end
    if element == "i8" then return "unpack8(int(" .. word .. "))[" .. at .. "]" end
    return is_whole and string.format("(%s >> %d & %du)", word, at * bits, 2 ^ bits - 1) or word
  end
  local words = {}
  for k = 1, #names, per_word do
    local elements = {}
    for i = k, k + per_word - 1 do elements[#elements + 1] = of(names[i]) end
    words[#words + 1] = pack(elements)
  end
  return #words == 1 and words[1] or glsl.vector("word", #words) .. "(" .. table.concat(words, ", ") .. ")"
end

-- The result ----------------------------------------------------------------------------------------------------------

-- Where vector `vector` of a row of C lies behind the row's first one, in vectors of n.
function text.column(p, vector, n)
  local result = p.product.result
  if not result.columns then return vector end
  local vectors = result.columns // n
  return sum(times(over(vector, vectors), result.image // n), modulo(vector, vectors))
end

-- The function finished_element(row, column, sum, first_row, first_column) of a fragment, or tile, that begins there: what the
-- sum becomes, as a number of the sums. `o`: last (epilogue.of, of one number; nil: none), stores (it stores what lies within
-- C; else it reads some row and column of C for what lies outside, and nothing is stored of that).
function text.finished_element(p, o)
  local op, product, result, whole = p.product.op, p.product, p.product.result, p.parts == 1
  local sums = glsl.sums(op)
  local output, number = whole and glsl.output(op) or glsl.wide(sums), glsl.vector(p.sums or sums, 1)
  local value = p.sums and p.sums ~= sums and glsl.vector(sums, 1) .. "(value)" or "value"
  local pitch, inside = whole and result.pitch or product.M, {}
  local origin = whole and text.origin(p, result, 1) or text.origin_of_parts(p, 1)
  local row, column = "first_row + row", "first_column + column"
  local function limited(x, line)
    if x.exact then return line end
    if not o.stores then return glsl.below(line, x.lines) end
    inside[#inside + 1] = (x.name == "a" and "r" or "c") .. " < " .. x.lines
    return line
  end
  local lines = {
    string.format("%s finished_element(const in uint row, const in uint column, const in %s value, const in uint first_row, const in uint first_column)",
      number, number),
    "{",
    string.format("    const uint r = %s, c = %s;", limited(p.a, row), limited(p.b, column)),
  }
  if p.matrices > 1 then lines[#lines + 1] = "    const uint matrix = " .. text.matrix(p) .. ";" end
  lines[#lines + 1] = "    const uint at = " .. sum(origin, times(whole and "r" or sum(times(text.part(p), product.N), "r"), pitch),
    whole and text.column(p, "c", 1) or "c") .. ";"
  local finished = glsl.converted(value, sums, output, 1)
  if o.last then finished = o.last.call(value, text.bias(p, "r", "c", 1), "at") end
  if o.stores then
    lines[#lines + 1] = "    " .. (#inside > 0 and "if (" .. table.concat(inside, " && ") .. ") " or "") .. "matrix_c[at] = " .. finished .. ";"
    finished = "value"
  else
    finished = glsl.converted(finished, output, sums, 1)
  end
  lines[#lines + 1] = "    return " .. finished .. ";"
  lines[#lines + 1] = "}"
  return table.concat(lines, "\n")
end

-- The bias of vector `vector` of a row of C, in vectors of n where columns have one each.
function text.bias(p, row, vector, n)
  local place = p.product.result.bias_place
  if p.product.result.bias == "rows" then return sum(text.origin(p, place, 1), row) end
  return sum(text.origin(p, place, n), vector)
end

return text
