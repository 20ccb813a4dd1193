-- Products of bytes, four elements of K at a time: what multiplies is an instruction for the dot product of two words.
--
--     local q = quads.of(product)     the same product (gemm_plan.lua) of words that are four neighbours along K: K is a fourth;
--                                     nil where the device or its sizes do not allow it
--
-- An operand whose neighbours in memory are neighbours along K is read in words as it lies. Of any other, four vectors make a
-- vector of words when it is loaded: its place has `rows`, elements from one to the next of those four.

local arithmetic = include "arithmetic.lua"

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

function quads.of(product)
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
