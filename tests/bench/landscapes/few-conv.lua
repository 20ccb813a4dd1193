-- tests/bench/landscapes/few-conv.lua: presets/conv-implicit.lua over few parameters
local few, conv2d, implicit_gemm = include "few.lua", include "conv2d.lua", include "implicit_gemm.lua"
few(implicit_gemm.product(conv2d.declare {
  batch = 1, in_channels = 32, out_channels = 32, height = 28, width = 28, kernel = 3, padding = 1,
}))
