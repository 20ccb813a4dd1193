-- What it returns holds itself.
local t = {}
t.t = t
return t
