-- There are no patterns; what has them must not be there.
local s = string.rep("a", 100000)
return s:find(string.rep("a*", 40) .. "b"), s:gsub("(a*)*b", "")
