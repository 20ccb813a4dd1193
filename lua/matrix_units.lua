-- Matrix units in GLSL: one set of words, three spellings.
--
--     khr        GL_KHR_cooperative_matrix
--     nv         GL_NV_cooperative_matrix, for compilers and drivers that do not know the other
--     emulated   plain GLSL that does the same in the same places, slowly: what a kernel gets right with it, its
--                indexing, it gets right with the others
--
--     local u = matrix_units.of { api = "khr", m = 16, n = 8, k = 16, a = "f16", c = "f32", lanes = 32, elements = true }
--                                                    elements: u.become or u.reduce is used
--
-- A fragment is a matrix held by the `lanes` invocations of a subgroup: "a" (m x k), "b" (k x n), or "c" (m x n), to
-- which the product of the others is added. All invocations of the subgroup do together:
--
--     u.declare("a", name)                           a fragment
--     u.zero("c", name)                              one that holds zeros
--     u.load("a", name, memory, at, pitch, turned)   from a buffer or shared memory
--     u.multiply_add(c, a, b)
--     u.store("c", name, memory, at, pitch)
--     u.converted(name, element, from)               a "c" of other elements, from one that is there; u.declare
--                                                    takes the element too, as its last argument
--     u.each(name, statement)                        for each element of a "c" that an invocation holds: name[e]
--     u.reduce(name, f)                              each element of a "c" becomes f(f(a, b), ...) of its row; where
--                                                    matrix_units.reduces(api)
--     u.become(name, f, ...)                         each element of a "c" becomes f(row, column, element, ...); where
--                                                    matrix_units.knows_elements(api)
--
-- Memory is { name = , element = , vector = } for an array of elements, or of vectors of words that hold `vector`
-- elements each (uint, uvec2, uvec4: NV's extension takes no others); `at` (text) is where the fragment
-- begins, `pitch` how far its rows lie apart, both in vectors: 0 where all rows are the same. A fragment that is `turned` lies in memory with its
-- columns as rows. Also told: `unit` and `lane`, texts of which subgroup of its workgroup and which of its lanes an
-- invocation is; `trips`, what the three cost in iterations of loops.

local glsl = include "glsl.lua"

local matrix_units = {}

-- Rows, columns and elements of the fragments.
local function sizes(s)
  return { a = { s.m, s.k, s.a }, b = { s.k, s.n, s.a }, c = { s.m, s.n, s.c } }
end

-- The emulation. A and B are whole in every lane; of C lane i has the elements i, i + lanes, i + 2 lanes, ... -----------

-- Element i (text) of a word.
local unpacked = {
  f32 = function(word) return "uintBitsToFloat(" .. word .. ")" end,
  f16 = function(word, i) return "unpackFloat2x16(" .. word .. ")[" .. glsl.modulo(i, 2) .. "]" end,
  i8 = function(word, i) return "int8_t(bitfieldExtract(int(" .. word .. "), int(" .. i .. ") % 4 * 8, 8))" end,
}
for _, element in ipairs { "bf16", "u8", "f8e4m3", "f8e5m2" } do -- whole numbers without a sign hold them
  local bits, type = 8 * glsl.bytes(element), glsl.vector(element, 1)
  unpacked[element] = function(word, i)
    return string.format("%s(bitfieldExtract(%s, int(%s) %% %d * %d, %d))", type, word, i, 32 // bits, bits, bits)
  end
end

-- Element `at` (text, in elements) of memory.
local function element(memory, at)
  if memory.vector == 1 then return memory.name .. "[" .. at .. "]" end
  local per_word = 4 // glsl.bytes(memory.element)
  local words, word = memory.vector // per_word, glsl.over(at, per_word)
  local place = words == 1 and "[" .. word .. "]" or "[" .. glsl.over(word, words) .. "][" .. glsl.modulo(word, words) .. "]"
  return unpacked[memory.element](memory.name .. place, at)
end

-- Never unrolled: compilers take minutes over thousands of copies.
local function loop(n, body, index)
  local i = index or "e"
  return string.format("[[dont_unroll]] for (uint %s = 0; %s < %d; ++%s) %s", i, i, n, i, body)
end

local function emulated(s)
  local size, u = sizes(s), {}
  local held = { a = s.m * s.k, b = s.k * s.n, c = s.m * s.n // s.lanes }
  local own = "(lane + e * " .. s.lanes .. ")" -- element e of those that a lane has of C

  function u.declare(use, name, element)
    return string.format("%s[%d] %s;", glsl.vector(element or size[use][3], 1), held[use], name)
  end

  function u.zero(use, name)
    return u.declare(use, name) .. " " ..
      loop(held[use], name .. "[e] = " .. glsl.converted("0", "i32", size[use][3], 1) .. ";")
  end

  function u.load(use, name, memory, at, pitch, turned)
    local columns, e = size[use][2], use == "c" and own or "e"
    local row, column = e .. " / " .. columns, e .. " % " .. columns
    if turned then row, column = column, row end
    local from = glsl.sum(glsl.times(at, memory.vector), glsl.times(row, pitch * memory.vector), column)
    return loop(held[use], name .. "[e] = " .. element(memory, "(" .. from .. ")") .. ";")
  end

  function u.multiply_add(c, a, b)
    local left, right = string.format("%s[%s / %d * %d + k]", a, own, s.n, s.k), string.format("%s[k * %d + %s %% %d]", b, s.n, own, s.n)
    local product = glsl.converted(left, s.a, s.c, 1) .. " * " .. glsl.converted(right, s.a, s.c, 1)
    return loop(held.c, loop(s.k, c .. "[e] += " .. product .. ";", "k"))
  end

  function u.store(use, name, memory, at, pitch)
    local columns = size[use][2]
    local to = glsl.sum(at, glsl.times(own .. " / " .. columns, pitch), own .. " % " .. columns)
    return loop(held[use], memory.name .. "[" .. to .. "] = " .. name .. "[e];")
  end

  function u.each(_, statement) return loop(held.c, statement) end

  function u.become(name, f, ...)
    return u.each(name, string.format("%s[e] = %s(%s / %d, %s %% %d, %s[e], %s);", name, f, own, s.n, own, s.n, name,
      table.concat({ ... }, ", ")))
  end

  function u.converted(name, element, from)
    return u.declare("c", name, element) .. " " ..
      u.each(name, name .. "[e] = " .. glsl.vector(element, 1) .. "(" .. from .. "[e]);")
  end

  u.extensions = { "GL_EXT_control_flow_attributes" }
  u.is_emulated = true
  u.unit, u.lane = "gl_LocalInvocationIndex / " .. s.lanes, "gl_LocalInvocationIndex % " .. s.lanes
  u.trips = { load_a = held.a + 1, load_b = held.b + 1, multiply = held.c * (s.k + 2) + 1, store = held.c + 1 }
  return u
end

-- The two that Vulkan has. ---------------------------------------------------------------------------------------------

local function native(s, words)
  local size, u = sizes(s), {}
  local function type_of(use, element)
    local rows, columns, of = table.unpack(size[use])
    return words.type(use, rows, columns, element or of)
  end

  function u.declare(use, name, element) return type_of(use, element) .. " " .. name .. ";" end

  function u.zero(use, name) return string.format("%s %s = %s(0);", type_of(use), name, type_of(use)) end

  function u.load(_, name, memory, at, pitch, turned)
    return string.format("%s(%s, %s, %s, %d, %s);", words.load, name, memory.name, at, pitch, words.order(turned))
  end

  function u.multiply_add(c, a, b) return string.format("%s = %s(%s, %s, %s);", c, words.multiply, a, b, c) end

  function u.store(_, name, memory, at, pitch)
    return string.format("%s(%s, %s, %s, %d, %s);", words.store, name, memory.name, at, pitch, words.order(false))
  end

  function u.each(name, statement)
    return string.format("[[unroll]] for (uint e = 0; e < %s.length(); ++e) %s", name, statement)
  end

  function u.reduce(name, f)
    return string.format("coopMatReduceNV(%s, %s, gl_CooperativeMatrixReduceRowNV, %s);", name, name, f)
  end

  function u.become(name, f, ...)
    return string.format("coopMatPerElementNV(%s, %s, %s, %s);", name, name, f, table.concat({ ... }, ", "))
  end

  function u.converted(name, element, from)
    return string.format("%s %s = %s(%s);", type_of("c", element), name, type_of("c", element), from)
  end

  u.extensions = { "GL_KHR_memory_scope_semantics", "GL_KHR_shader_subgroup_basic", table.unpack(words.extensions) }
  if elements[s.a].extension ~= "" then u.extensions[#u.extensions + 1] = elements[s.a].extension end
  if s.elements then u.extensions[#u.extensions + 1] = "GL_NV_cooperative_matrix2" end
  u.unit, u.lane = "gl_SubgroupID", "gl_SubgroupInvocationID"
  u.trips = { load_a = 0, load_b = 0, multiply = 0, store = 0 }
  return u
end

local nv_types = { f32 = "fcoopmatNV<32", f16 = "fcoopmatNV<16", i32 = "icoopmatNV<32", i8 = "icoopmatNV<8" }
local uses = { a = "gl_MatrixUseA", b = "gl_MatrixUseB", c = "gl_MatrixUseAccumulator" }

local words = {
  nv = {
    extensions = { "GL_NV_cooperative_matrix", "GL_NV_integer_cooperative_matrix" },
    type = function(_, rows, columns, of)
      return string.format("%s, gl_ScopeSubgroup, %d, %d>", nv_types[of], rows, columns)
    end,
    load = "coopMatLoadNV", multiply = "coopMatMulAddNV", store = "coopMatStoreNV",
    order = function(turned) return turned and "true" or "false" end,
  },
  khr = {
    extensions = { "GL_KHR_cooperative_matrix" },
    type = function(use, rows, columns, of)
      return string.format("coopmat<%s, gl_ScopeSubgroup, %d, %d, %s>", elements[of].fragment, rows, columns, uses[use])
    end,
    load = "coopMatLoad", multiply = "coopMatMulAdd", store = "coopMatStore",
    order = function(turned)
      return turned and "gl_CooperativeMatrixLayoutColumnMajor" or "gl_CooperativeMatrixLayoutRowMajor"
    end,
  },
}

-- Sizes of which a subgroup's fragments may be any multiple (VK_NV_cooperative_matrix2); of these, those that are offered.
local function flexible(api)
  local found = {}
  for _, shape in ipairs(api == "khr" and device.flexible or {}) do
    if shape.invocations == 0 then found[#found + 1] = shape end
  end
  return found
end

local multiples = { { 1, 1, 2 }, { 2, 1, 1 }, { 1, 2, 1 }, { 2, 2, 1 }, { 2, 2, 2 } }

-- Returns whether there are fragments of m x n sums that hold an element.
function matrix_units.sums_in(api, m, n, element)
  if api == "emulated" then return true end
  for _, shape in ipairs(device.matrix) do
    if shape.m == m and shape.n == n and shape.c == element then return true end
  end
  for _, shape in ipairs(flexible(api)) do
    if m % shape.m == 0 and n % shape.n == 0 and shape.c == element then return true end
  end
  return false
end

-- Returns whether rows of a fragment can be reduced, and of a fragment of this shape: the device's own, no flexible one, as Mesa
-- 26.1 leaves half of the rows of 16 x 16 as they are.
function matrix_units.reduces(api) return api == "khr" and device.matrix2.reductions end

function matrix_units.reduces_shape(shape)
  for _, own in ipairs(device.matrix) do
    if own.m == shape.m and own.n == shape.n and own.k == shape.k then return true end
  end
  return false
end

-- Returns whether an operation of each element of a fragment can know its row and column.
function matrix_units.knows_elements(api) return api == "emulated" or api == "khr" and device.matrix2.elements end

function matrix_units.of(s) return s.api == "emulated" and emulated(s) or native(s, words[s.api]) end

-- Shapes for products of `input` summed in `sums`: the device's, or those to emulate, of which each has different sizes.
function matrix_units.shapes(api, input, sums)
  if api == "emulated" then return { { m = 8, n = 8, k = 8 }, { m = 16, n = 8, k = 8 }, { m = 8, n = 16, k = 16 } } end
  local found = {}
  for _, shape in ipairs(device.matrix) do
    if shape.a == input and shape.c == sums then found[#found + 1] = shape end
  end
  for _, shape in ipairs(#found == 0 and sums == "i32" and device.matrix or {}) do -- sums of u8 without a sign: their bits are the same
    if shape.a == input and shape.c == "u32" then found[#found + 1] = shape end
  end
  local function has(m, n, k)
    for _, shape in ipairs(found) do
      if shape.m == m and shape.n == n and shape.k == k then return true end
    end
    return false
  end
  for _, shape in ipairs(flexible(api)) do
    for _, times in ipairs(shape.a == input and found[1] and shape.c == found[1].c and multiples or {}) do
      local m, n, k = shape.m * times[1], shape.n * times[2], shape.k * times[3]
      if not has(m, n, k) and math.max(m, n, k) <= device.matrix_size then found[#found + 1] = { m = m, n = n, k = k, c = shape.c } end
    end
  end
  return found
end

return matrix_units
