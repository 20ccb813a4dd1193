-- presets/mm2.lua: MM2 of the OpEvo paper
use("mm.lua", { N = 512, M = 4096, K = 1024 })
