-- A tensor twice, once with indices that are no sums of axes.
local A = tensor("A", { 21, 30 })
output(compute("Y", { 10, 10 }, function(i, j)
  return sum({ { "k", 3 }, { "l", 3 } }, function(k, l) return A(i + k, j + l) * A(2 * i + k // 2, j + 2 * l) end)
end))
