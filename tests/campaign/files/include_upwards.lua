-- A file that is not below this folder.
include "../secret"
