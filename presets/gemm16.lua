-- presets/gemm16.lua: gemm of 16-bit numbers
use("gemm.lua", { type = "f16" })
