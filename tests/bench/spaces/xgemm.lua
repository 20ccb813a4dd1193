-- The same rules as CLBlast's Xgemm has, over all whole numbers to 32.
local lists = include "lists.lua"
for _, name in ipairs { "mwg", "nwg", "kwg", "mdimc", "ndimc", "mdima", "ndimb" } do param[name] = discrete(lists.upto(32)) end
constraint("m", function(c) return 1024 % c.mwg == 0 end)
constraint("n", function(c) return 1024 % c.nwg == 0 end)
constraint("k", function(c) return 1024 % c.kwg == 0 end)
constraint("mc", function(c) return c.mwg % c.mdimc == 0 end)
constraint("nc", function(c) return c.nwg % c.ndimc == 0 end)
constraint("a", function(c) return c.mdimc * c.ndimc % c.mdima == 0 end)
constraint("b", function(c) return c.mdimc * c.ndimc % c.ndimb == 0 end)
constraint("ka", function(c) return c.kwg % (c.mdimc * c.ndimc // c.mdima) == 0 end)
constraint("kb", function(c) return c.kwg % (c.mdimc * c.ndimc // c.ndimb) == 0 end)
constraint("threads", function(c) return 32 <= c.mdimc * c.ndimc and c.mdimc * c.ndimc <= 512 end)
