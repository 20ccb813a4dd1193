-- Convolutions of 3x3 by Winograd's minimal filtering F(m,3), m = 2 or 4 (Lavin and Gray, "Fast Algorithms for
-- Convolutional Neural Networks", 2016): kernels in a row with scratch memory between them.
--
--     winograd.product(op, m)     the product of the transforms, as gemm_plan.lua takes it
--     winograd.rule(m)            the matrices of F(m,3)
--     winograd.element(op)        what is multiplied: f16 where the operation says so, else f32
--     winograd.factor(op, m, of)  what the transform `of` multiplies its results by: 1, or a power of two
--     winograd.stored(op, m, of, text)    a result of it as it is stored
--     winograd.sizes(op, m)       what goes into scratch memory
--     winograd.text(matrix, ...)  a transform as statements of GLSL
--     winograd.cost(matrix)       its additions and multiplications
--
-- The output is cut into tiles of m x m, the input into tiles of n x n, n = m + 2, which overlap. Weights g and input
-- tiles d are transformed, U = G g G^T and V = B^T d B, multiplied element by element, added up over the channels, and
-- what that gives is transformed back, y = A^T M A. Elements with the same place in a tile make a product of matrices,
-- filters x channels times channels x tiles: n^2 products (for each group) in a batch, of m^2 x 9 / n^2 times fewer
-- multiplications than the sums have.
--
-- All matrices have whole numbers here: rows of G are multiplied by what makes them whole, columns of A^T take it back,
-- up to a denominator by which the outputs are divided in the end. So whole inputs that are small give exact outputs.
--
-- In scratch memory there are one after the other: U [n^2, groups, channels, filters], V [n^2, groups, channels, tiles],
-- M [n^2, groups, filters, tiles] (nchw), or V [.., tiles, channels], M [.., tiles, filters] (nhwc). M is f32, U and V are
-- f32 whatever the type, or for matrix units that multiply f16 (algorithm=winograd_f16) f16: these are then scaled by powers
-- of two, such that no input is too large. Filters and tiles are rounded up to 16 bytes, so that vectors fit; what lies there
-- matters to nobody.

local arithmetic, glsl = include "arithmetic.lua", include "glsl.lua"
local ceil_div, widest = arithmetic.ceil_div, arithmetic.widest

local winograd = {}

-- At the points 0, 1, -1, infinity; and 0, 1, -1, 2, -2, infinity.
local rules = {
  [2] = {
    input = { { 1, 0, -1, 0 }, { 0, 1, 1, 0 }, { 0, -1, 1, 0 }, { 0, 1, 0, -1 } },
    weights = { { 1, 0, 0 }, { 1, 1, 1 }, { 1, -1, 1 }, { 0, 0, 1 } },
    output = { { 2, 1, 1, 0 }, { 0, 1, -1, -2 } },
    denominator = 4,
  },
  [4] = {
    input = {
      { 4, 0, -5, 0, 1, 0 }, { 0, -4, -4, 1, 1, 0 }, { 0, 4, -4, -1, 1, 0 },
      { 0, -2, -1, 2, 1, 0 }, { 0, 2, -1, -2, 1, 0 }, { 0, 4, 0, -5, 0, 1 },
    },
    weights = { { 1, 0, 0 }, { -1, -1, -1 }, { -1, 1, -1 }, { 1, 2, 4 }, { 1, -2, 4 }, { 0, 0, 1 } },
    output = { { 6, 4, 4, 1, 1, 0 }, { 0, 4, -4, 2, -2, 0 }, { 0, 4, 4, 4, 4, 0 }, { 0, 4, -4, 8, -8, 24 } },
    denominator = 576,
  },
}

function winograd.rule(m) return rules[m] end

function winograd.element(op) return op.algorithm == "winograd_f16" and "f16" or "f32" end

function winograd.factor(op, m, of)
  if winograd.element(op) == "f32" then return 1 end
  local most, factor = 0, 1
  for _, row in ipairs(rules[m][of]) do
    local sum = 0
    for _, number in ipairs(row) do sum = sum + math.abs(number) end
    most = math.max(most, sum * sum) -- both directions
  end
  while most * factor > 1 do factor = factor / 2 end
  return factor
end

function winograd.stored(op, m, of, text)
  local factor = winograd.factor(op, m, of)
  if factor ~= 1 then text = "(" .. text .. ") * " .. glsl.literal("f32", factor) end
  return glsl.converted(text, "f32", winograd.element(op), 1)
end

-- What goes into scratch memory, by m, which may be a formula of a loop nest. Sizes are of one group; `elements` are all, of
-- 4 bytes; the output begins at so many of them, the input at so many of its own.
function winograd.sizes(op, m)
  local s = { n = m + 2, groups = op.groups, channels = op.in_channels // op.groups, filters = op.out_channels // op.groups }
  local in_word = 4 // glsl.bytes(winograd.element(op))
  local together = 4 * in_word -- 16 bytes
  s.rows, s.columns = ceil_div(op.out_height, m), ceil_div(op.out_width, m) -- of tiles, of an image
  s.count = op.batch * s.rows * s.columns
  s.tiles, s.all_filters = together * ceil_div(s.count, together), together * ceil_div(s.filters, together)
  local each = s.n * s.n * s.groups
  s.weights, s.input, s.output = each * s.channels * s.all_filters, each * s.channels * s.tiles, each * s.all_filters * s.tiles
  s.of_input, s.of_output = s.weights, (s.weights + s.input) // in_word
  s.elements = s.of_output + s.output
  return s
end

-- Its epilogue is that of the transform behind it.
local function inner_operation(op)
  return {
    type = winograd.element(op), accumulate = "f32", output = "f32", bias = "none", residual = "none", activation = "none",
    scale = 1, bindings = op.bindings,
  }
end

function winograd.product(op, m)
  local s = winograd.sizes(op, m)
  local function place(first, rows, columns, along_k)
    return {
      binding = op.bindings.scratch, first = first, row = columns, pitch = columns, from_matrix = rows * columns, along_k = along_k, widest = 4,
    }
  end
  local weights = place(0, s.channels, s.all_filters, false)
  local product = { op = inner_operation(op), matrices = s.n * s.n * s.groups, K = s.channels, kept = s.elements }
  if op.layout == "nchw" then
    product.N, product.M = s.all_filters, s.tiles
    product.a, product.b = weights, place(s.of_input, s.channels, s.tiles, false)
  else
    product.N, product.M = s.tiles, s.all_filters
    product.a, product.b = place(s.of_input, s.tiles, s.channels, true), weights
    product.a.widest = widest(s.channels)
  end
  product.result = place(s.of_output, product.N, product.M)
  product.result.bias, product.result.bias_place = "columns", { from_matrix = 0 }
  product.buffer_bytes = glsl.bytes(op.type) * math.max(arithmetic.product(op.batch, op.in_channels, op.height, op.width),
    arithmetic.product(op.batch, op.out_channels, op.out_height, op.out_width))
  return product
end

-- A row times what `element(i)` names, as a text.
local function row_text(row, element)
  local text = ""
  for i, factor in ipairs(row) do
    if factor ~= 0 then
      local sign = factor < 0 and (text == "" and "-" or " - ") or text == "" and "" or " + "
      local size = math.abs(factor)
      text = text .. sign .. element(i - 1) .. (size == 1 and "" or " * " .. glsl.literal("f32", size))
    end
  end
  return text
end

-- matrix x X x matrix^T, X an array of `size` x `size` numbers: calls line(name, text) for each number in between and
-- last(i, j, text) for those of the result. X is read as element(i, j).
function winograd.text(matrix, size, element, line, last)
  for j = 0, size - 1 do
    for i, row in ipairs(matrix) do
      line("t_" .. i - 1 .. "_" .. j, row_text(row, function(n) return element(n, j) end))
    end
  end
  for i = 0, #matrix - 1 do
    for j, row in ipairs(matrix) do
      last(i, j - 1, row_text(row, function(n) return "t_" .. i .. "_" .. n end))
    end
  end
end

-- Of winograd.text.
function winograd.cost(matrix)
  local add, multiply, size = 0, 0, #matrix[1]
  for _, row in ipairs(matrix) do
    local terms = 0
    for _, factor in ipairs(row) do
      if factor ~= 0 then terms = terms + 1 end
      if math.abs(factor) > 1 then multiply = multiply + 1 end
    end
    add = add + terms - 1
  end
  return add * (size + #matrix), multiply * (size + #matrix)
end

return winograd
