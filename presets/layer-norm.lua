-- presets/layer-norm.lua: rows less their mean, by their deviation, by its definition
local shapes = include "shapes.lua"
local M, N = shapes.of({ "M", "N" }, { 64, 256 }, { { 512, 768 }, { 2048, 1024 }, { 4096, 4096 }, { 256, 8192 } })
local X, gamma, beta = tensor("X", { M, N }), tensor("gamma", { N }), tensor("beta", { N })
local mean = compute("mean", { M }, function(i) return sum({ { "k", N } }, function(k) return X(i, k) end) / N end)
local deviation = compute("deviation", { M }, function(i)
  return sqrt(sum({ { "k", N } }, function(k) return (X(i, k) - mean(i)) * (X(i, k) - mean(i)) end) / N + 1e-5)
end)
output(compute("Y", { M, N }, function(i, j) return (X(i, j) - mean(i)) / deviation(i) * gamma(j) + beta(j) end))
