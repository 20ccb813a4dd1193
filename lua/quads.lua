-- Products of bytes, four elements of K at a time: what multiplies is an instruction for the dot product of two words.
--
--     local q = quads.of(product)     the same product (gemm_plan.lua) of words that are four neighbours along K: K is a fourth;
--                                     nil where the device or its sizes do not allow it
--
-- An operand whose neighbours in memory are neighbours along K is read in words as it lies. Of any other, four vectors make a
-- vector of words when it is loaded: its place has `rows`, elements from one to the next of those four.
--
-- Where A is in blocks, and B may be quantised (`b` of the operator), a pass before the product makes runs of 32 numbers along
-- K of B: eight words of bytes and one with two f16, the scale and the sum of what the bytes stand for (ggml's q8_1). It has
-- them in scratch memory in one of two orders:
--
--     quads.of(product)                for tiles: the word of the scale, then those of the bytes. A run is nine elements of K,
--                                      of A too: scales go through tiles as bytes do, and what is summed of a run as whole
--                                      numbers gets its scales at the end of the run
--     quads.apart(product)             for few columns: all bytes, and all scales behind them; K is a fourth
--     quads.quantise(plan, product)    declares the pass, for plans whose products are such
--
-- Their A has `packed`: it is read as words, and B `scales`: where its scales begin.

local arithmetic, glsl, blocks, plain = include "arithmetic.lua", include "glsl.lua", include "blocks.lua", include "plain.lua"
local ceil_div = arithmetic.ceil_div

local quads = {}

local function copy(table)
  local new = {}
  for name, value in pairs(table) do new[name] = value end
  return new
end

local function fourth(n) return n and n // 4 end

local function all_in_fours(place)
  local g = place.gather
  return (place.pitch or 0) % 4 == 0 and place.from_matrix % 4 == 0 and
    (not g or g.channels % 4 == 0 and g.all_channels % 4 == 0)
end

local function in_words(place, K)
  local p, g = copy(place), place.gather and copy(place.gather)
  if g then g.channels, g.all_channels = g.channels // 4, g.all_channels // 4 end
  p.gather, p.pitch, p.from_matrix, p.elements = g, fourth(place.pitch), place.from_matrix // 4, place.elements // 4
  p.widest = g and arithmetic.widest(g.channels, g.all_channels) or arithmetic.widest(K, p.pitch, p.from_matrix)
  p.words = true
  return p
end

local function of_rows(place)
  local p = copy(place)
  p.rows = place.pitch or 0
  p.pitch = place.pitch and 4 * place.pitch
  return p
end

quads.run = 9            -- words of a run
local numbers, group = 32, 8 -- of a run; runs of a workgroup

local function may_quantise(product) return product.a.blocks and product.op.b == "q8_1" end

local function quantised(product, K, apart)
  if not may_quantise(product) then return nil end
  local q, M, widest = copy(product), product.M, arithmetic.widest(K)
  local bytes, runs = M * product.K // 4, M * product.K // numbers
  q.element, q.K, q.apart = "word", K, apart
  q.kept = ceil_div(bytes + runs, 4) * 4
  q.a = copy(product.a)
  q.a.pitch, q.a.row, q.a.widest, q.a.packed = K, K, widest, true
  q.b = {
    binding = product.op.bindings.scratch, along_k = true, row = K, pitch = K, from_matrix = 0, widest = widest, elements = M * K,
    scales = bytes,
  }
  return q
end

function quads.apart(product) return quantised(product, product.K // 4, true) end

function quads.quantise(plan, product)
  if not may_quantise(product) then return end
  local runs = product.M * product.K // numbers
  local groups = plain.groups(ceil_div(runs, group))
  kernel {
    template = "quantise.comp",
    values = function(c)
      return { product = product, apart = plan(c).product.apart, scales = plan(c).product.b.scales, runs = runs, group = group,
               launched = groups, glsl = glsl }
    end,
    groups = function() return groups end,
    when = function(c) return plan(c).product.kept ~= nil end,
  }
end

function quads.of(product)
  if product.a.blocks then return quantised(product, product.K // numbers * quads.run, false) end
  if product.op.type ~= "i8" or not device.dot or product.K % 4 ~= 0 then return nil end
  local q = copy(product)
  q.element, q.K = "word", product.K // 4
  for _, name in ipairs { "a", "b" } do
    local place = product[name]
    if place.along_k and not all_in_fours(place) then return nil end
    q[name] = place.along_k and in_words(place, q.K) or of_rows(place)
  end
  return q
end

return quads
