-- C[N,M] = A[N,K] B[K,M]: what a configuration means, derived once for constraints, resources and templates alike.
--
--     local p = matmul.plan(problem, schedule)    the sizes that follow from a schedule
--     matmul.kernels(plan)                        declares resources, kernels and scratch memory by plan(c)
--
-- A and B are treated alike. An operand consists of `lines` (rows of A, columns of B) of K elements. A workgroup works
-- on `tile` lines of each, an invocation on `count` of them: `virtual` groups of `registers` neighbours, the groups
-- `lanes * registers` apart. K is cut into tiles of `depth` elements, a tile into steps of `step` elements, and one
-- step is written out in full. An operand reaches the registers in one of four ways:
--
--     none      straight from the buffer
--     shared    tile by tile through shared memory
--     prefetch  the same, while the next tile is already on its way to registers
--     double    the same, into the other half of a doubled shared tile: one barrier a tile
--
-- The plan's operands `a` and `b` carry these words as fields; the template gemm.comp sees the whole plan.

local arithmetic, glsl = include "arithmetic.lua", include "glsl.lua"
local ceil_div, divisor, widest, bytes_of = arithmetic.ceil_div, arithmetic.divisor, arithmetic.widest, arithmetic.product

local matmul = {}

matmul.stages = { "none", "shared", "prefetch", "double" }

-- Orders of the workgroups: along the rows of C, in bands of 2, 4 or 8 rows, along the columns.
local bands = { rows = 1, group2 = 2, group4 = 4, group8 = 8, columns = 0 }
local bands_next_to = {
  rows = { "group2" }, group2 = { "rows", "group4" }, group4 = { "group2", "group8" },
  group8 = { "group4", "columns" }, columns = { "group8" },
}
matmul.walks = {
  values = { "rows", "group2", "group4", "group8", "columns" },
  neighbours = function(walk) return bands_next_to[walk] end,
}

local most_rounds_copied = 16  -- a cooperative load of more rounds is a loop
local reduce_group = { 32, 8 } -- workgroup of the second pass of a split product

-- The vector widths with which a matrix ("a", "b" or "c") can be read: those that divide its rows in memory.
function matmul.widths(problem, matrix)
  local row = problem.M
  if matrix == "a" and problem.layout:sub(1, 1) == "n" then row = problem.K end
  if matrix == "a" and problem.layout:sub(1, 1) == "t" then row = problem.N end
  if matrix == "b" and problem.layout:sub(2, 2) == "t" then row = problem.K end
  return row % 4 == 0 and { 1, 2, 4 } or row % 2 == 0 and { 1, 2 } or { 1 }
end

-- `along_k`: whether neighbours in memory are neighbours along K.
local function operand(name, lines, along_k, split, stage)
  local virtual, lanes, registers = split[1], split[2], split[3]
  local tile = virtual * lanes * registers
  return {
    name = name, lines = lines, along_k = along_k,
    virtual = virtual, lanes = lanes, registers = registers,
    count = virtual * registers, tile = tile,
    tiles = ceil_div(lines, tile), exact = lines % tile == 0,
    stage = stage, staged = stage ~= "none",
  }
end

-- How many neighbours an operand has within what is loaded at once.
local function neighbours(p, x)
  if x.staged then return x.along_k and p.depth or x.tile end
  return x.along_k and p.step or x.registers
end

-- What staging adds. A shared tile is k-major: `depth` lines of `pitch` chunks, a chunk being the widest vector of
-- neighbouring registers. It is filled in `rounds` of one vector an invocation, numbered in the order of memory.
local function add_stage(p, x, pad)
  x.chunk = widest(x.registers)
  x.pitch = x.tile // x.chunk + pad
  x.chunks = p.depth * x.pitch
  x.shared_chunks = x.stage == "double" and 2 * x.chunks or x.chunks
  x.vectors = p.depth * x.tile // x.vector
  x.rounds = ceil_div(x.vectors, p.threads)
  x.looped = x.rounds > most_rounds_copied
  x.ahead = x.stage ~= "shared" and not x.looped -- the next tile waits in registers
end

-- problem: N, M, K, type, layout. schedule: rows and columns { virtual, lanes, registers }, depth { steps, step },
-- stage_a, stage_b, order, unroll (products written out at most; a step always is, unless `cut`), and where they differ
-- from the defaults: vector_a, vector_b, vector_c (the widest), pad (0), explicit (false), walk ("rows"), split_k (1).
function matmul.plan(problem, s)
  local p = { glsl = glsl, problem = problem, order = s.order, walk = bands[s.walk or "rows"], parts = s.split_k or 1 }
  p.a = operand("a", problem.N, problem.layout:sub(1, 1) == "n", s.rows, s.stage_a)
  p.b = operand("b", problem.M, problem.layout:sub(2, 2) == "t", s.columns, s.stage_b)
  p.threads = p.a.lanes * p.b.lanes
  p.depth = s.depth[1] * s.depth[2]
  local unroll = s.unroll // (p.a.count * p.b.count) -- in elements of K
  p.step = s.cut and divisor(s.depth[2], unroll) or s.depth[2]
  p.steps = p.depth // p.step
  p.unrolled = divisor(p.steps, unroll // p.step)
  p.tiles = ceil_div(problem.K, p.depth * p.parts) -- of one part
  p.exact_k = problem.K % (p.depth * p.parts) == 0
  p.hint = p.unrolled > 1 and not s.explicit
  for _, x in ipairs { p.a, p.b } do
    x.pitch_in_memory = x.along_k and problem.K or x.lines
    x.vector = s["vector_" .. x.name] or math.min(widest(neighbours(p, x)), widest(x.pitch_in_memory))
    if x.staged then add_stage(p, x, s.pad or 0) end
  end
  p.vector_c = s.vector_c or math.min(widest(p.b.registers), widest(problem.M))
  return p
end

function matmul.vectors_fit(p)
  return neighbours(p, p.a) % p.a.vector == 0 and neighbours(p, p.b) % p.b.vector == 0
end

function matmul.next_tile_fits(p)
  return not (p.a.stage == "prefetch" and p.a.looped) and not (p.b.stage == "prefetch" and p.b.looped)
end

-- A loop of n iterations takes n + 1 trips, as lavapipe counts them: the last one finds the end.
local function loop_trips(p)
  local trips = 1 -- of one iteration over the tiles
  if p.unrolled < p.steps then trips = trips + p.steps // p.unrolled + 1 end
  if p.hint then trips = trips + p.steps + p.steps // p.unrolled end -- a driver may ignore the hint
  if p.a.looped then trips = trips + p.a.rounds + 1 end
  if p.b.looped then trips = trips + p.b.rounds + 1 end
  return p.tiles * trips + (p.a.looped and p.a.rounds + 1 or 0) + (p.b.looped and p.b.rounds + 1 or 0) + 1
end

-- Statements that load an operand: for the unrolled steps, and to fill its shared tile.
local function load_statements(p, x)
  local loads = p.unrolled * p.step * x.count // (x.chunk or x.vector)
  return loads + (x.looped and 1 or x.rounds or 0) * (1 + x.vector)
end

local function groups(p)
  if p.walk == bands.columns then return { p.a.tiles, p.b.tiles, p.parts } end
  return { p.b.tiles, p.a.tiles, p.parts }
end

local function scratch_bytes(p)
  return p.parts > 1 and bytes_of(4, p.parts, p.problem.N, p.problem.M) or 0
end

local function statements(p)
  local stores = p.a.count * p.b.count // p.vector_c
  return stores + p.unrolled * p.step * p.a.count * p.b.count + load_statements(p, p.a) + load_statements(p, p.b)
end

-- Whether what is staged is read by several invocations: those that differ in the other operand's lane.
function matmul.staging_pays(p)
  return not (p.a.staged and p.b.lanes == 1) and not (p.b.staged and p.a.lanes == 1)
end

-- lavapipe translates about 1000 statements a second
function matmul.compiles_quickly(p) return not device.is_cpu or statements(p) <= 768 end

local function resources_of(p)
  local N, M, K = p.problem.N, p.problem.M, p.problem.K
  local bytes = glsl.bytes(p.problem.type)
  local function shared_bytes(x) return x.staged and bytes * x.shared_chunks * x.chunk or 0 end
  return {
    invocations = { p.b.lanes, p.a.lanes, 1 },
    groups = groups(p),
    shared_bytes = shared_bytes(p.a) + shared_bytes(p.b),
    accumulators = p.a.count * p.b.count,
    loop_trips = loop_trips(p),
    statements = statements(p),
    buffer_bytes = math.max(bytes_of(bytes, N, K), bytes_of(bytes, K, M), bytes_of(bytes, N, M), scratch_bytes(p)),
  }
end

function matmul.kernels(plan)
  resources(function(c) return resources_of(plan(c)) end)
  kernel {
    template = "gemm.comp",
    values = plan,
    groups = function(c) return groups(plan(c)) end,
  }
  kernel { -- adds the parts of a split product
    template = "reduce.comp",
    values = function(c)
      local p = plan(c)
      return { parts = p.parts, vector = widest(p.problem.M), group = reduce_group }
    end,
    groups = function(c)
      local problem = plan(c).problem
      return { ceil_div(problem.M // widest(problem.M), reduce_group[1]), ceil_div(problem.N, reduce_group[2]), 1 }
    end,
    when = function(c) return plan(c).parts > 1 end,
  }
  scratch(function(c) return scratch_bytes(plan(c)) end)
end

return matmul
