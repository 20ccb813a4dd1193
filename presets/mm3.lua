-- presets/mm3.lua: MM3 of the OpEvo paper
use("mm.lua", { N = 512, M = 1024, K = 4096 })
