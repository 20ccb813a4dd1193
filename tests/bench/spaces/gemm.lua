-- A product of matrices by tiles, with the parameters of CLBlast's Xgemm.
param.MWG = discrete { 16, 32, 64, 128 }
param.NWG = discrete { 16, 32, 64, 128 }
param.KWG = discrete { 16, 32 }
param.MDIMC = discrete { 8, 16, 32 }
param.NDIMC = discrete { 8, 16, 32 }
param.MDIMA = discrete { 8, 16, 32 }
param.NDIMB = discrete { 8, 16, 32 }
param.KWI = discrete { 2 }
param.VWM = discrete { 1, 2, 4, 8 }
param.VWN = discrete { 1, 2, 4, 8 }
param.STRM = discrete { 0, 1 }
param.STRN = discrete { 0, 1 }
param.SA = discrete { 0, 1 }
param.SB = discrete { 0, 1 }
constraint("k", function(c) return c.KWG % c.KWI == 0 end)
constraint("mc", function(c) return c.MWG % (c.MDIMC * c.VWM) == 0 end)
constraint("nc", function(c) return c.NWG % (c.NDIMC * c.VWN) == 0 end)
constraint("ma", function(c) return c.MWG % (c.MDIMA * c.VWM) == 0 end)
constraint("nb", function(c) return c.NWG % (c.NDIMB * c.VWN) == 0 end)
constraint("ka", function(c) return c.KWG % (c.MDIMC * c.NDIMC // c.MDIMA) == 0 end)
constraint("kb", function(c) return c.KWG % (c.MDIMC * c.NDIMC // c.NDIMB) == 0 end)
constraint("threads", function(c) return c.MDIMC * c.NDIMC <= 1024 end)
