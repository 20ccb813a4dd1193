-- A device that never ends.
include "/dev/zero"
