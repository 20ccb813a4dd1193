-- A product with a fault that can be chosen: what is to find faults has to find these.
choice("fault", { "none", "value", "unwritten", "past", "shared" })
operator.matmul { N = 8, M = 8, K = 8 }
param.unused = discrete { 1 }
resources(function() return { invocations = { 8, 8 }, groups = { 1 } } end)
kernel { template = "faulty.comp" }
