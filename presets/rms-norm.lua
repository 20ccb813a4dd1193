-- presets/rms-norm.lua: rows by the root of their mean square, by its definition
local shapes = include "shapes.lua"
local M, N = shapes.of({ "M", "N" }, { 64, 256 }, { { 512, 768 }, { 2048, 1024 }, { 4096, 4096 }, { 1, 8192 } })
local epsilon, type = number("epsilon", 1e-5), choice("type", { "f32", "f16" })
local X, gamma = tensor("X", { M, N }, type), tensor("gamma", { N }, type)
local root = compute("root", { M }, function(i)
  return sqrt(sum({ { "k", N } }, function(k) return X(i, k) * X(i, k) end) / N + epsilon)
end)
output(compute("Y", { M, N }, function(i, j)
  local y = X(i, j) / root(i) * gamma(j)
  return type == "f16" and cast(y, "f16") or y
end))
