-- An odd convolution with a border: what is copied runs past the image.
local X, F = tensor("X", { 13, 13, 11 }), tensor("F", { 3, 3, 11, 17 })
local P = compute("P", { 15, 15, 11 }, function(y, x, c)
  return select(y >= 1 and y < 14 and x >= 1 and x < 14, X(y - 1, x - 1, c), 0.0)
end)
output(compute("Y", { 7, 7, 17 }, function(y, x, f)
  return sum({ { "r", 3 }, { "s", 3 }, { "c", 11 } }, function(r, s, c) return P(y * 2 + r, x * 2 + s, c) * F(2 - r, s, c, f) end)
end))
