-- presets/layer-norm.lua: rows less their mean, by their deviation, by its definition
local shapes = include "shapes.lua"
local M, N = shapes.of({ "M", "N" }, { 64, 256 }, { { 512, 768 }, { 2048, 1024 }, { 4096, 4096 }, { 256, 8192 } })
local epsilon, type = number("epsilon", 1e-5), choice("type", { "f32", "f16" })
local X, gamma, beta = tensor("X", { M, N }, type), tensor("gamma", { N }, type), tensor("beta", { N }, type)
local mean = compute("mean", { M }, function(i) return sum({ { "k", N } }, function(k) return X(i, k) end) / N end)
local deviation = compute("deviation", { M }, function(i)
  return sqrt(sum({ { "k", N } }, function(k) return (X(i, k) - mean(i)) * (X(i, k) - mean(i)) end) / N + epsilon)
end)
output(compute("Y", { M, N }, function(i, j)
  local y = (X(i, j) - mean(i)) / deviation(i) * gamma(j) + beta(j)
  return type == "f16" and cast(y, "f16") or y
end))
