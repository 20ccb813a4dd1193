-- A product with a fault that can be chosen: what is to find faults has to find these.
choice("fault", { "none", "value", "unwritten", "past" })
operator.matmul { N = 8, M = 8, K = 8 }
param.unused = discrete { 1 }
kernel { template = "faulty.comp", groups = function() return { 1 } end }
