-- presets/gemv.lua: a matrix times a vector, by its definition
local shapes = include "shapes.lua"
local N, K = shapes.of({ "N", "K" }, { 256, 256 }, { { 4096, 4096 }, { 11008, 4096 }, { 4096, 11008 }, { 32000, 4096 } })
local A, X = tensor("A", { N, K }), tensor("X", { K })
output(compute("Y", { N }, function(i) return sum({ { "k", K } }, function(k) return A(i, k) * X(k) end) end))
