-- presets/nrm.lua: 2-norms of matrices, by their definition (NRM of Ansor's benchmark)
local shapes = include "shapes.lua"
local B, M, N = shapes.of({ "B", "M", "N" }, { 4, 64, 64 }, { { 1, 256, 256 }, { 1, 512, 512 }, { 1, 1024, 1024 }, { 1, 4096, 1024 } })
local A = tensor("A", { B, M, N })
output(compute("Y", { B }, function(b)
  return sqrt(sum({ { "i", M }, { "j", N } }, function(i, j) return A(b, i, j) * A(b, i, j) end))
end))
