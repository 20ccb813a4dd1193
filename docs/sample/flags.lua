-- The flags of a compiler, for a program that times itself (flags.sh, flags.c):
--
--     tilewalk tune flags.lua --source 'run:sh flags.sh {level} {unroll} {vectors} {alias} -DBLOCK={block}'
--
-- There is no kernel: what is measured is up to the command.
param.level   = categorical { "-O0", "-O1", "-O2", "-O3" }
param.unroll  = categorical { "-fno-unroll-loops", "-funroll-loops" }
param.vectors = categorical { "-fno-tree-vectorize", "-ftree-vectorize" }
param.alias   = categorical { "-fno-strict-aliasing", "-fstrict-aliasing" }
param.block   = discrete { 4, 8, 16, 32, 64, 128 }

constraint("-O0 optimizes nothing", function(c)
  return c.level ~= "-O0" or (c.unroll == "-fno-unroll-loops" and c.vectors == "-fno-tree-vectorize")
end)

baseline { usual = { level = "-O2", unroll = "-fno-unroll-loops", vectors = "-fno-tree-vectorize",
                     alias = "-fstrict-aliasing", block = 32 } }

minimize "ms"
