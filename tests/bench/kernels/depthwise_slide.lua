-- presets/depthwise.lua without rows that stay in registers.
use("depthwise.lua")
constraint("as before", function(c) return c.slide == "none" end)
