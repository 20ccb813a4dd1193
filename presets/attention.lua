-- presets/attention.lua: how much each query attends to each key, softmax(Q K' / sqrt(dim)), by its definition
local shapes = include "shapes.lua"
local head, N, M, dim = shapes.of({ "head", "N", "M", "dim" }, { 2, 32, 64, 32 },
  { { 12, 128, 128, 64 }, { 32, 512, 512, 128 }, { 32, 1, 4096, 128 }, { 8, 2048, 2048, 64 } })
local Q, K = tensor("Q", { head, N, dim }), tensor("K", { head, M, dim })
local S = compute("S", { head, N, M }, function(h, i, j)
  return sum({ { "d", dim } }, function(d) return Q(h, i, d) * K(h, j, d) end)
end)
local scaled = compute("scaled", { head, N, M }, function(h, i, j) return S(h, i, j) / sqrt(dim) end)
local top = compute("top", { head, N }, function(h, i) return max({ { "k", M } }, function(k) return scaled(h, i, k) end) end)
local E = compute("E", { head, N, M }, function(h, i, j) return exp(scaled(h, i, j) - top(h, i)) end)
output(compute("Y", { head, N, M }, function(h, i, j) return E(h, i, j) / sum({ { "k", M } }, function(k) return E(h, i, k) end) end))
