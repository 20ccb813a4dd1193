-- presets/rope.lua: rotary embedding, each half of a head turned with the other, by its definition
local shapes = include "shapes.lua"
local T, head, dim = shapes.of({ "T", "head", "dim" }, { 32, 4, 64 }, { { 512, 32, 128 }, { 2048, 32, 128 }, { 1, 64, 128 }, { 4096, 8, 64 } })
local half = dim // 2
local X, C, S = tensor("X", { T, head, dim }), tensor("C", { T, half }), tensor("S", { T, half })
output(compute("Y", { T, head, dim }, function(t, h, d)
  if d < half then return X(t, h, d) * C(t, d) - X(t, h, d + half) * S(t, d) end
  return X(t, h, d) * C(t, d - half) + X(t, h, d - half) * S(t, d - half)
end))
