-- The configuration behaves like tables: each rule holds at the first point.
param.tile = factors(12, 3)
param.order = permutation { 'n', 'm', 'k' }
param.unroll = discrete { 16, 0, 2.5 }
param.stage = categorical { 'none', 'shared' }
param.walk = custom { values = { 'rows', 'bands', 'columns' }, neighbours = function(v)
  return v == 'bands' and { 'rows', 'columns' } or { 'bands' } end }
param.width = custom { values = { 4, 1 }, neighbours = function(v) return { 5 - v } end }
operator.matmul { N = 8, M = 8, K = 8 }
kernel { template = 't.comp', groups = function() return { 1 } end }

constraint('a list has a length', function(c)
  return #c.tile == 3 and c.tile[1] * c.tile[2] * c.tile[3] == 12
end)
constraint('a list is walked in order', function(c)
  local n = 0
  for i, v in ipairs(c.tile) do
    n = n + 1
    assert(v == c.tile[i] and i == n)
  end
  return n == 3
end)
constraint('parameters are walked by their names', function(c)
  local names = {}
  for k, v in pairs(c) do
    names[#names + 1] = k
    assert(v == c[k])
  end
  return table.concat(names, ' ') == 'order stage tile unroll walk width'
end)
constraint('a list is unpacked', function(c)
  local a, b, d = table.unpack(c.tile)
  return a * b * d == 12
end)
constraint('a list is put together', function(c) return table.concat(c.order) == 'nmk' end)
constraint('a whole value is whole', function(c)
  return math.type(c.unroll) == 'integer' and c.unroll == 0
end)
constraint('a part is whole', function(c) return math.type(c.tile[1]) == 'integer' end)
constraint('a word is a string', function(c)
  return type(c.stage) == 'string' and c.stage == 'none'
end)
constraint('both are tables', function(c)
  return type(c) == 'table' and tostring(c.tile) == 'table'
end)
