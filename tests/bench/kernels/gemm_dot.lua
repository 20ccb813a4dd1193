-- presets/gemm.lua of bytes, without products of four of them at once.
use("gemm.lua")
constraint("as before", function(c) return c.dot == "none" end)
