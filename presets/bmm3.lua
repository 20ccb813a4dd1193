-- presets/bmm3.lua: BMM3 of the OpEvo paper: B is stored transposed
use("bmm.lua", { batch = 960, N = 128, M = 128, K = 64, layout = "nt" })
