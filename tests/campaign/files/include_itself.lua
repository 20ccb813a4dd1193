-- Files that include each other.
include "include_itself.lua"
include "include_other.lua"
