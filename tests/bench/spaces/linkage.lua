-- Record linkage by caches in two directions, of the kind that ATF publishes: sizes that divide each other.
local lists = include "lists.lua"
local N = 16
for _, d in ipairs { "L", "P" } do
  param["local_" .. d] = discrete(lists.upto(N))
  param["private_" .. d] = discrete(lists.upto(N))
  param["groups_" .. d] = discrete(lists.upto(N))
  param["items_" .. d] = discrete(lists.upto(N))
  constraint(d .. " 1", function(c) return N % c["local_" .. d] == 0 end)
  constraint(d .. " 2", function(c) return c["local_" .. d] % c["private_" .. d] == 0 end)
  constraint(d .. " 3", function(c) return N // c["local_" .. d] % c["groups_" .. d] == 0 end)
  constraint(d .. " 4", function(c) return c["local_" .. d] // c["private_" .. d] % c["items_" .. d] == 0 end)
end
param.cache_local = discrete { 0, 1 }
param.cache_private = discrete { 0, 1 }
constraint("threads", function(c) return c.items_L * c.items_P <= 64 end)
constraint("caches", function(c) return c.cache_local == 1 or c.cache_private == 0 end)
