-- Matrices that a whole workgroup holds, in GLSL: one set of words, two spellings. group_gemm.comp multiplies with them.
--
--     nv2           GL_NV_cooperative_matrix2: its driver moves tiles by tensor layouts, through memory of its own
--     nv2-emulated  plain GLSL that does the same, slowly: invocation i has the elements i, i + threads, ... of C, tiles of A
--                   and B are whole in shared memory
--
--     local u = group_units.of(p)         p: a plan of group_gemm.lua
--     u.extensions, u.trips               trips: what they cost in iterations of loops: of a tile, at the end
--     u.globals()                         texts before main(): what reads elements of A and B, shared tiles
--     u.begin()                           statements: layouts of A, B and C, and the sums, which are 0
--     u.load(x, k)                        a tile of an operand from element k on
--     u.multiply_add()
--     u.become(f, ...)                    each sum becomes f(row, column, sum, ...)
--     u.store(output)                     the tile of C, as that element; only where p.store is "tensor"
--
-- An operand is a tensor of two dimensions as it lies in memory: [lines, K] where K lies along its rows, else [K, lines]. What
-- is beyond its end reads as zeros. It is `decoded` where memory has something else than its elements: then a function of an
-- element's place reads it, for blocks of a quantised model (blocks.lua), the image of a convolution (gemm_text.lua), and
-- matrices that do not begin at multiples of 16 bytes, as layouts want it.

local arithmetic, glsl, text, blocks = include "arithmetic.lua", include "glsl.lua", include "gemm_text.lua", include "blocks.lua"
local ceil_div, sum, times = arithmetic.ceil_div, glsl.sum, glsl.times

local group_units = {}

-- Rows and columns of an operand as it lies in memory, and those of its tile as a matrix.
local function dimensions(p, x)
  if x.along_k then return x.lines, p.product.K end
  return p.product.K, x.lines
end

local function is_turned(x) return (x.name == "a") ~= (x.along_k or false) end

local function matrix_size(p, x)
  if x.name == "a" then return x.tile, p.depth end
  return p.depth, x.tile
end

-- Weights of a block along K.
local function block(x) return x.place.blocks and blocks.formats[x.place.blocks].weights or 1 end

-- The statements that give the element at row block[0], column block[1] * block + within[1] of an operand that is decoded.
local function decoded(p, x, from_bits)
  local type, K = p.product.op.type, p.product.K
  local lines = {}
  if p.matrices > 1 then lines[1] = "    const uint matrix = " .. text.matrix(p) .. ";" end
  local origin, value = text.origin(p, x.place, 1), nil
  if x.place.blocks then
    local f = blocks.formats[x.place.blocks]
    value = string.format("weights_%s(place[0] * %d + place[1] * %d + within[1])", x.name, K, f.weights)
    value = glsl.converted(value, "f32", type, 1)
  elseif x.gather then
    local line, k = "place[0]", "place[1]"
    if not x.along_k then line, k = k, line end
    value = string.format("gathered_%s(pixel_of_%s(%s, %s), %s)", x.name, x.name, origin, line, k)
  else
    value = "matrix_" .. x.name .. "[" .. sum(origin, times("place[0]", x.place.pitch), "place[1]") .. "]"
  end
  if from_bits ~= "" then value = from_bits .. "(" .. value .. ")" end
  lines[#lines + 1] = "    return " .. value .. ";"
  return table.concat(lines, "\n")
end

-- Returns the functions that read elements, as `type`, which `from_bits` makes of them; `parameters` come before the two of a place.
local function reader(p, x, parameters, type, from_bits)
  local before = ""
  if x.place.blocks then before = blocks.reader(x.place.blocks, x.name, 1) .. "\n" end
  if x.gather then before = text.image({ product = p.product, exact_k = true }, x) .. "\n\n" end -- K is bounded by the layout
  return string.format("%s%s element_%s(%sconst in uint place[2], const in uint within[2])\n{\n%s\n}\n", before, type, x.name,
    parameters, decoded(p, x, from_bits))
end

local function each_operand(p, f)
  local texts = {}
  for _, x in ipairs { p.a, p.b } do texts[#texts + 1] = f(x) end
  return table.concat(texts, "\n")
end

-- The emulation ---------------------------------------------------------------------------------------------------------

-- Never unrolled: compilers take minutes over thousands of copies.
local function loop(from, below, step, body)
  return string.format("[[dont_unroll]] for (uint e = %s; e < %d; e += %d) %s", from, below, step, body)
end

local function emulated(p)
  local u, type, sums = {}, p.product.op.type, glsl.sums(p.product.op)
  local M, N, held = p.a.tile, p.b.tile, p.a.tile * p.b.tile // p.threads
  local row, column = "(thread + e * " .. p.threads .. ") / " .. N, "(thread + e * " .. p.threads .. ") % " .. N
  local function each(statement) return loop("0", held, 1, statement) end

  u.extensions = { "GL_EXT_control_flow_attributes" }
  local function fills(x) return ceil_div(x.tile * p.depth, p.threads) + 1 end
  u.trips = { tile = fills(p.a) + fills(p.b) + held * (p.depth + 2) + 1, finish = 3 * (held + 1) }

  function u.globals()
    return each_operand(p, function(x)
      return (x.decoded and reader(p, x, "", glsl.vector(type, 1), "") or "") ..
        string.format("shared %s tile_%s[%d];\n", glsl.vector(type, 1), x.name, x.tile * p.depth)
    end)
  end

  function u.begin()
    return string.format("const uint thread = gl_LocalInvocationIndex;\n    %s sums[%d];\n    %s", glsl.vector(sums, 1), held,
      each("sums[e] = " .. glsl.converted("0", "i32", sums, 1) .. ";"))
  end

  function u.load(x, k)
    local rows, columns = dimensions(p, x)
    local _, width = matrix_size(p, x)
    local line, along = string.format("first_%s + %s %d", x.name, x.name == "a" and "e /" or "e %", width), -- of the matrix
      string.format("%s + %s %d", k, x.name == "a" and "e %" or "e /", width)
    local r, c = line, along
    if not x.along_k then r, c = c, r end
    local n, value = block(x), nil
    if x.decoded then
      value = string.format("element_%s(uint[2](r, c / %d), uint[2](0, c %% %d))", x.name, n, n)
    else
      value = "matrix_" .. x.name .. "[" .. sum(text.origin_name(p, x), times("r", x.place.pitch), "c") .. "]"
    end
    return loop("thread", x.tile * p.depth, p.threads, string.format([[{
            const uint r = %s, c = %s;
            tile_%s[e] = %s(0);
            if (r < %d && c < %d) tile_%s[e] = %s;
        }]], r, c, x.name, glsl.vector(type, 1), rows, columns, x.name, value))
  end

  function u.multiply_add()
    local left, right = "tile_a[" .. row .. " * " .. p.depth .. " + k]", "tile_b[k * " .. N .. " + " .. column .. "]"
    local product = glsl.converted(left, type, sums, 1) .. " * " .. glsl.converted(right, type, sums, 1)
    return "barrier();\n        " ..
      each(string.format("[[dont_unroll]] for (uint k = 0; k < %d; ++k) sums[e] += %s;", p.depth, product)) .. "\n        barrier();"
  end

  function u.become(f, ...)
    return each(string.format("sums[e] = %s(%s, %s, sums[e], %s);", f, row, column, table.concat({ ... }, ", ")))
  end

  function u.store(output)
    local whole = p.parts == 1
    local pitch, origin = p.product.M, sum(text.origin_of_parts(p, 1), times("gl_WorkGroupID.z", p.product.N * p.product.M))
    if whole then pitch, origin = p.product.result.pitch, text.origin(p, p.product.result, 1) end
    return each(string.format([[{
        const uint r = first_a + %s, c = first_b + %s;
        if (r < %d && c < %d) matrix_c[%s] = %s;
    }]], row, column, p.product.N, p.product.M, sum(origin, times("r", pitch), "c"), glsl.converted("sums[e]", sums, output, 1)))
  end

  u.shared_bytes = (M + N) * p.depth * glsl.bytes(type)
  return u
end

-- The extension ---------------------------------------------------------------------------------------------------------

local function native(p)
  local u, op = {}, p.product.op
  local uses = { a = "gl_MatrixUseA", b = "gl_MatrixUseB", c = "gl_MatrixUseAccumulator" }
  local function matrix(element, rows, columns, use)
    return string.format("coopmat<%s, gl_ScopeWorkgroup, %d, %d, %s>", elements[element].fragment, rows, columns, uses[use])
  end
  local function sums(element) return matrix(element, p.a.tile, p.b.tile, "c") end
  local function layout(name, rows, columns, pitch, exact, per_block)
    local mode = exact and "gl_CooperativeMatrixClampModeUndefinedNV" or "gl_CooperativeMatrixClampModeConstantNV"
    local lines = { string.format("tensorLayoutNV<2, %s> layout_%s = createTensorLayoutNV(2, %s);", mode, name, mode) }
    local function set(what, first, second)
      lines[#lines + 1] = string.format("layout_%s = setTensorLayout%sNV(layout_%s, %d, %d);", name, what, name, first, second)
    end
    if per_block > 1 then set("BlockSize", 1, per_block) end
    set("Dimension", rows, columns)
    set("Stride", pitch, 1)
    return table.concat(lines, "\n    ")
  end
  local function slice(x, k)
    local line, along = "first_" .. x.name .. ", " .. x.tile, k .. ", " .. p.depth
    if not x.along_k then line, along = along, line end
    return string.format("sliceTensorLayoutNV(layout_%s, %s, %s)", x.name, line, along)
  end

  u.extensions = { "GL_KHR_memory_scope_semantics", "GL_KHR_cooperative_matrix", "GL_NV_cooperative_matrix2" }
  if p.a.decoded or p.b.decoded then u.extensions[#u.extensions + 1] = "GL_EXT_buffer_reference" end
  if elements[op.type].extension ~= "" then u.extensions[#u.extensions + 1] = elements[op.type].extension end
  u.trips = { tile = 0, finish = 0 }
  u.shared_bytes = device.matrix_shared

  -- Only what decodes gets a reference, and does not need it: it reads the buffer that is bound.
  function u.globals()
    return each_operand(p, function(x)
      if not x.decoded then return "" end
      local bytes = x.place.blocks and blocks.formats[x.place.blocks].bytes or glsl.bytes(op.type)
      local element = x.place.blocks and "uint16_t" or glsl.vector(op.type, 1)
      local size = x.place.blocks and 2 or bytes
      local block = string.format("layout(buffer_reference, std430, buffer_reference_align = %d) buffer BlockOf%s { %s part[%d]; };\n",
        size, x.name:upper(), element, bytes // size)
      return block .. reader(p, x, "const in BlockOf" .. x.name:upper() .. " block, ", elements[op.type].fragment, elements[op.type].from_bits)
    end)
  end

  function u.begin()
    local lines = {}
    for _, x in ipairs { p.a, p.b } do
      local rows, columns = dimensions(p, x)
      local pitch = x.place.blocks and columns // block(x) or x.gather and columns or x.place.pitch
      lines[#lines + 1] = layout(x.name, rows, columns, pitch, x.exact and p.exact_k, block(x))
      if is_turned(x) then lines[#lines + 1] = "const tensorViewNV<2, false, 1, 0> turned_" .. x.name .. " = createTensorViewNV(2, false, 1, 0);" end
    end
    if p.store == "tensor" then
      local pitch = p.parts == 1 and p.product.result.pitch or p.product.M
      lines[#lines + 1] = layout("c", p.product.N, p.product.M, pitch, p.a.exact and p.b.exact, 1)
    end
    lines[#lines + 1] = sums(glsl.sums(op)) .. " sums = " .. sums(glsl.sums(op)) .. "(0);"
    return table.concat(lines, "\n    ")
  end

  function u.load(x, k)
    local rows, columns = matrix_size(p, x)
    return string.format("%s tile_%s;\n        coopMatLoadTensorNV(tile_%s, matrix_%s, %s, %s%s%s);",
      matrix(op.type, rows, columns, x.name), x.name, x.name, x.name, x.decoded and "0" or text.origin_name(p, x), slice(x, k),
      is_turned(x) and ", turned_" .. x.name or "", x.decoded and ", element_" .. x.name or "")
  end

  function u.multiply_add() return "sums = coopMatMulAdd(tile_a, tile_b, sums);" end

  function u.become(f, ...)
    return string.format("coopMatPerElementNV(sums, sums, %s, %s);", f, table.concat({ ... }, ", "))
  end

  function u.store(output)
    local origin = sum(text.origin_of_parts(p, 1), times("gl_WorkGroupID.z", p.product.N * p.product.M))
    if p.parts == 1 then origin = text.origin(p, p.product.result, 1) end
    local slice = string.format("sliceTensorLayoutNV(layout_c, first_a, %d, first_b, %d)", p.a.tile, p.b.tile)
    return string.format("%s result = %s(sums);\n    coopMatStoreTensorNV(result, matrix_c, %s, %s);", sums(output), sums(output),
      origin, slice)
  end

  return u
end

function group_units.of(p) return p.api == "nv2" and native(p) or emulated(p) end

-- Returns sizes whose multiples are tiles, with the workgroup's invocations.
function group_units.shapes(api, input, sums)
  if api ~= "nv2" then return { { m = 8, n = 8, k = 8, invocations = 16 }, { m = 8, n = 8, k = 8, invocations = 32 } } end
  local found = {}
  for _, shape in ipairs(device.flexible) do
    if shape.a == input and shape.c == sums and shape.invocations > 0 then found[#found + 1] = shape end
  end
  return found
end

-- Returns what a device lacks; nil: nothing.
function group_units.lacking(input, sums)
  if device.matrix_api ~= "khr" then return "matrix units that kernels reach through VK_KHR_cooperative_matrix" end
  for _, feature in ipairs { "workgroup", "flexible", "tensors", "elements" } do
    if not device.matrix2[feature] then return "'" .. feature .. "' of VK_NV_cooperative_matrix2" end
  end
  if #group_units.shapes("nv2", input, sums) == 0 then
    return "matrices of a workgroup that multiply " .. input .. " and sum in " .. sums
  end
end

return group_units
