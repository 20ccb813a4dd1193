-- What combinations of a product's parameters make sense, and the kernels: for spaces that offer everything a
-- hand-written kernel would choose from (presets/gemm.lua, presets/conv-implicit.lua).
--
--     gemm_rules.offer(product)      parameters that only some devices and products have; product: see gemm_plan.lua
--     gemm_rules.declare(product)    constraints and kernels; after all parameters are declared
--     gemm_rules.begin(product)      where searches begin on GPUs; after that
--     gemm_rules.plan(product, of)   constraints alone; returns plan(c) and schedule(c). of(c): a configuration's product
--
-- The parameters: threads { unused, rows, columns in eights }, registers { unused, virtual and neighbouring rows,
-- virtual and neighbouring columns }, tile_k { unused, steps, elements a step }, stage_a, stage_b, pad, vector_a,
-- vector_b, order, unroll, explicit, split_k, walk; of several matrices: together; of convolutions: index; and what is
-- offered: dot, lanes, ends, edges, fragments, swizzle, widen.

local gemm, gemm_nest, subgroups, quads = include "gemm_plan.lua", include "gemm_nest.lua", include "subgroups.lua", include "quads.lua"

local gemm_rules = {}

function gemm_rules.gathers(product) return product.a.gather or product.b.gather end

local function schedule_of(product)
  local many, gathers = product.matrices > 1, gemm_rules.gathers(product)
  return function(c)
    local t, r = c.threads, c.registers
    return {
      rows = { r[2], t[2], r[3] }, columns = { r[4], 8 * t[3], r[5] }, depth = { c.tile_k[2], c.tile_k[3] },
      stage_a = c.stage_a, stage_b = c.stage_b, vector_a = c.vector_a, vector_b = c.vector_b,
      pad = c.pad, order = c.order, unroll = c.unroll, explicit = c.explicit,
      dot = product.quads and c.dot, lanes = gemm.lanes and c.lanes, subgroup = subgroups.size(c),
      ends = gemm.ends(product) and c.ends, edges = gemm.edges(product) and c.edges,
      fragments = gemm.fragments and c.fragments, swizzle = gemm.swizzles(product) and c.swizzle,
      widen = product.op.accumulate == "mixed" and c.widen, walk = c.walk, split_k = c.split_k, together = many and c.together, index = gathers and c.index,
    }
  end
end

function gemm_rules.offer(product)
  local ends, edges, swizzles = gemm.ends(product), gemm.edges(product), gemm.swizzles(product)
  if product.quads then
    param.dot = categorical { "none", "packed" } -- products one by one, or of four bytes along K at once (of blocks: B as q8_1)
  end
  if gemm.lanes then
    param.lanes = discrete(gemm.lanes) -- rows of a subgroup's tile of them, at most; 0: row by row
  end
  if gemm.fragments then
    param.fragments = categorical(gemm.fragments) -- of shared tiles, if any: read when they are multiplied, or a step before
  end
  if product.op.accumulate == "mixed" then
    param.widen = categorical(gemm.widens) -- after what sums in halves go into sums in f32
  end
  if swizzles then
    param.swizzle = categorical(swizzles) -- of shared tiles of what lies along K, if any
  end
  if ends then
    param.ends = categorical(ends) -- of K, where tiles do not fit: guards in all tiles, or in these only
  end
  if edges then
    param.edges = categorical(edges) -- of rows and columns: what lies beyond is clamped, or the last tile begins earlier
  end
end

function gemm_rules.plan(product, of)
  local schedule = schedule_of(product)
  local plan = derived(function(c) return gemm.plan(of and of(c) or product, schedule(c)) end)
  constraint("vectors divide what is loaded", function(c) return gemm.vectors_fit(plan(c)) end)
  if product.op.accumulate == "mixed" then
    constraint("few sums in halves", function(c) return gemm.halves_fit(plan(c)) end)
  end
  constraint("a tile ahead fits registers", function(c) return gemm.next_tile_fits(plan(c)) end)
  constraint("only what is shared is staged", function(c) return gemm.staging_pays(plan(c)) end)
  constraint("whole subgroups", function(c) return gemm.threads(plan(c)) >= subgroups.least end)
  constraint("compiles quickly", function(c) return gemm.compiles_quickly(plan(c)) end)
  constraint("no empty part of K", function(c) return plan(c).depth * (c.split_k - 1) < plan(c).product.K end)
  if gemm.ends(product) then
    constraint("an end to be apart", function(c) return c.ends == "guarded" or plan(c).within ~= nil end)
  end
  if gemm.edges(product) then
    constraint("a tile to be shifted", function(c) return c.edges == "guarded" or plan(c).a.shifted or plan(c).b.shifted end)
  end
  if product.a.blocks and product.quads then
    constraint("whole runs of weights", function(c) return c.dot == "none" or c.tile_k[3] % 8 == 0 end)
  end
  return plan, schedule
end

-- Searches of f32 on GPUs begin here: 8 x 8 sums an invocation, 256 invocations, 16 elements of K, the next tile in registers or
-- the other half.
local source = "the best of f32 at 4096 cubed on an H200, 45 TFLOPS (docs/internals/gpus.md)"

function gemm_rules.begin(product)
  if device.is_cpu or product.op.type ~= "f32" then return end
  local points, ends, edges, swizzles = {}, gemm.ends(product), gemm.edges(product), gemm.swizzles(product)
  local function widest(operand)
    local widths = gemm.widths(operand)
    return math.min(widths[#widths], 4)
  end
  local function add(threads, tile_k, stage)
    points[#points + 1] = {
      threads = threads, registers = { 2, 2, 4, 2, 4 }, tile_k = tile_k, stage_a = stage, stage_b = stage, pad = 2,
      vector_a = widest(product.a), vector_b = widest(product.b), order = { "k", "m", "n" }, unroll = 2048, explicit = "hint",
      split_k = 1, walk = "group8", together = product.matrices > 1 and 1 or nil, lanes = gemm.lanes and 8 or nil,
      fragments = gemm.fragments and "late" or nil, swizzle = swizzles and "xor" or nil, ends = ends and "guarded" or nil,
      edges = edges and "guarded" or nil, dot = product.quads and "none" or nil,
      subgroup_size = subgroups.choices > 1 and subgroups.least or nil,
    }
  end
  add({ 1, 8, 4 }, { 2, 2, 8 }, "prefetch")
  add({ 1, 16, 2 }, { 2, 2, 8 }, "prefetch")
  add({ 1, 8, 4 }, { 2, 1, 16 }, "prefetch")
  add({ 1, 8, 4 }, { 2, 2, 8 }, "double")
  begin(source, points)
end

function gemm_rules.declare(product)
  local plan, schedule = gemm_rules.plan(product)
  quads.quantise(plan, product)
  gemm.kernels(plan)
  gemm_nest.declare(product, schedule)
end

return gemm_rules
