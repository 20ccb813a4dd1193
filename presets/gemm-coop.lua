-- presets/gemm-coop.lua: C[N,M] = A[N,K] B[K,M] with matrix units (cooperative matrices) of the device, or with an
-- emulation of them that shows that the kernels are right and nothing about speed: --set units=emulated
local matmul, units = include "matmul.lua", include "units.lua"

-- No device multiplies f32, but any emulates it.
local product = matmul.declare(device.is_cpu and 64 or 2048, { "f16", "i8", "f32", "bf16", "u8", "f8e4m3", "f8e5m2" })
units.declare(product, units.require(product))
