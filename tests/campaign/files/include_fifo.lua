-- A pipe that nobody writes to: the campaign makes it.
include "pipe.lua"
