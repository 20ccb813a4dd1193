-- A text of an error that a terminal would obey.
error("\27[2J\27]0;owned\7\155 \226\128\174\13all is well")
