-- presets/tbg.lua: transposes and a batch of products, as attention has them, by their definition (TBG of Ansor's benchmark)
local shapes = include "shapes.lua"
local B, seq, head, dim = shapes.of({ "B", "seq", "head", "dim" }, { 1, 32, 4, 32 },
  { { 1, 128, 12, 64 }, { 1, 128, 16, 64 }, { 1, 64, 12, 128 }, { 1, 128, 12, 128 } })
local Q, K = tensor("Q", { B, seq, head, dim }), tensor("K", { B, seq, head, dim })
local QT = compute("QT", { B, head, seq, dim }, function(b, h, i, d) return Q(b, i, h, d) end)
local KT = compute("KT", { B, head, dim, seq }, function(b, h, d, j) return K(b, j, h, d) end)
output(compute("Y", { B, head, seq, seq }, function(b, h, i, j)
  return sum({ { "d", dim } }, function(d) return QT(b, h, i, d) * KT(b, h, d, j) end)
end))
