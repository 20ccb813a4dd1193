-- tests/bench/landscapes/few-gemm.lua: presets/gemm.lua over few parameters
local few, matmul = include "few.lua", include "matmul.lua"
few(matmul.declare(256, { "f32" }))
