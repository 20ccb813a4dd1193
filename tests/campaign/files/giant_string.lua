-- A string without an end.
local s = "x"
while true do s = s .. s end
