-- A link out of the folder: the campaign makes it.
include "link.lua"
