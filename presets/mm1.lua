-- presets/mm1.lua: MM1 of the OpEvo paper
use("mm.lua", { N = 512, M = 1024, K = 1024 })
