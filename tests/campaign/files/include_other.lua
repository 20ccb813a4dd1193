include "include_itself.lua"
return include "include_other.lua"
