-- presets/bmm2.lua: BMM2 of the OpEvo paper: A is stored transposed
use("bmm.lua", { batch = 960, N = 128, M = 64, K = 128, layout = "tn" })
