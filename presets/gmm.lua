-- presets/gmm.lua: products of matrices, a batch of them, by their definition (GMM of Ansor's benchmark)
local shapes = include "shapes.lua"
local B, N, M, K = shapes.of({ "B", "N", "M", "K" }, { 1, 64, 64, 64 },
  { { 1, 128, 128, 128 }, { 1, 512, 32, 512 }, { 1, 512, 512, 512 }, { 1, 1024, 1024, 1024 } })
local X, W = tensor("X", { B, N, K }), tensor("W", { B, K, M })
output(compute("Y", { B, N, M }, function(b, i, j)
  return sum({ { "k", K } }, function(k) return X(b, i, k) * W(b, k, j) end)
end))
