-- The product of two matrices, or of two batches of matrices, as gemm_plan.lua takes it: C[N,M] = A[N,K] B[K,M].
--
--     local product = matmul.product(op)                op: what operator.matmul or operator.batch_matmul returned
--     local product = matmul.declare(standard, types, accumulate, has_blocks)     declares sizes (standard: of N, M, K, or { N = , M = ,
--                                                       K = }), choices and the operator; accumulate: what sums of f16 can be
--                                                       (f32, f16); has_blocks: A may be in blocks (blocks.lua)
local arithmetic, glsl, epilogue = include "arithmetic.lua", include "glsl.lua", include "epilogue.lua"
local quads, blocks = include "quads.lua", include "blocks.lua"

local matmul = {}

-- A matrix of `rows` rows of `columns` elements in memory.
local function place(op, name, rows, columns)
  local pitch, matrices = op["row_" .. name], op.kind == "batch_matmul" and op.batch or 1
  local from_matrix = matrices > 1 and op["batch_" .. name] or 0
  return {
    binding = op.bindings[name:upper()], row = columns, pitch = pitch, from_matrix = from_matrix,
    widest = arithmetic.widest(columns, pitch, from_matrix),
    eights = op.type == "f16" and arithmetic.divides(8, columns, pitch, from_matrix),
    elements = (matrices - 1) * from_matrix + (rows - 1) * pitch + columns,
  }
end

function matmul.product(op)
  local a_as_written, b_as_written = op.layout:sub(1, 1) == "n", op.layout:sub(2, 2) == "n"
  local a = a_as_written and place(op, "a", op.N, op.K) or place(op, "a", op.K, op.N)
  local b = b_as_written and place(op, "b", op.K, op.M) or place(op, "b", op.M, op.K)
  local c = place(op, "c", op.N, op.M)
  a.along_k, b.along_k = a_as_written, not b_as_written
  a.blocks = blocks.of(op)
  a.eights = a.eights and not a.blocks
  c.bias, c.bias_place = "columns", { from_matrix = 0 }
  local product = {
    op = op, N = op.N, M = op.M, K = op.K, matrices = op.kind == "batch_matmul" and op.batch or 1,
    a = a, b = b, result = c,
    buffer_bytes = math.max(glsl.bytes(op.type) * math.max(a.blocks and 0 or a.elements, b.elements),
      glsl.bytes(glsl.output(op)) * c.elements),
  }
  product.quads = quads.of(product)
  return product
end

function matmul.declare(standard, types, accumulate, has_blocks)
  if type(standard) == "number" then standard = { N = standard, M = standard, K = standard } end
  local format = has_blocks and choice("blocks", blocks.names) or "none"
  local quantised = format ~= "none"
  local fields = {
    N = size("N", standard.N), M = size("M", standard.M), K = size("K", standard.K),
    row_a = size("row_a", 0, 0), row_b = size("row_b", 0, 0), row_c = size("row_c", 0, 0), -- 0: rows without gaps
    type = choice("type", quantised and { "f32", "f16" } or types),
    layout = choice("layout", quantised and { "nn", "nt" } or { "nn", "nt", "tn", "tt" }),
    b = has_blocks and choice("b", quantised and { "q8_1", "float" } or {}, nil, -- what B may be multiplied as
      not quantised and "A is not in blocks: set blocks, too" or nil),
    accumulate = choice("accumulate", quantised and { "f32" } or accumulate or { "f32", "f16" }), -- sums of f16
  }
  epilogue.declare(fields)
  local batch = size("batch", 1)
  if quantised and batch > 1 then error("products of blocks are made one by one (batch = 1)") end
  if quantised and fields.N * fields.K > 1 << 32 then error("A has more than 2^32 weights, kernels count them in 32 bits (choose smaller sizes)") end
  if has_blocks and batch == 1 then fields.blocks = format end
  if batch == 1 then return matmul.product(operator.matmul(fields)) end
  fields.batch = batch
  fields.batch_a, fields.batch_b, fields.batch_c = size("batch_a", 0, 0), size("batch_b", 0, 0), size("batch_c", 0, 0)
  return matmul.product(operator.batch_matmul(fields))
end

return matmul
