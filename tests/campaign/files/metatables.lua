-- Reaching what all strings share.
local shared = getmetatable("")
shared.__index = function() return print end
