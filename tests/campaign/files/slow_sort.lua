-- An order that is none.
local t = {}
for i = 1, 200000 do t[i] = i * 7919 % 200003 end
while true do table.sort(t, function(x, y) return x % 3 < y % 3 end) end
