-- An image with zeros around it, as a stage: padded(X, "P", { N, H, W, C }, { 0, pad, pad, 0 })

local function inside(index, size, pad, at)
  for i = 1, #size do
    if pad[i] > 0 and not (index[i] >= pad[i] and index[i] < size[i] + pad[i]) then return false end
    at[i] = index[i] - pad[i]
  end
  return true
end

return function(X, name, size, pad)
  local shape = {}
  for i = 1, #size do shape[i] = size[i] + 2 * pad[i] end
  local function value(...)
    local index, at = { ... }, {}
    return inside(index, size, pad, at) and X(table.unpack(at)) or 0.0
  end
  local by_rank = {
    [3] = function(n, x, c) return value(n, x, c) end,
    [4] = function(n, y, x, c) return value(n, y, x, c) end,
    [5] = function(n, z, y, x, c) return value(n, z, y, x, c) end,
    [6] = function(n, y, x, i, j, c) return value(n, y, x, i, j, c) end,
  }
  return compute(name, shape, by_rank[#size])
end
