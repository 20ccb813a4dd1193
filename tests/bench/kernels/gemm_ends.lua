-- presets/gemm.lua without a choice of what happens at uneven ends.
use("gemm.lua")
constraint("as before", function(c) return c.ends == "guarded" end)
