-- presets/bmm1.lua: BMM1 of the OpEvo paper
use("bmm.lua", { batch = 960, N = 128, M = 64, K = 128 })
