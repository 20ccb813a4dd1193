-- A product with a fault that can be chosen: what is to find faults has to find these.
local fault = choice("fault", { "none", "value", "unwritten", "past", "shared", "outside" })
operator.matmul { N = 8, M = 8, K = 8 }
param.unused = discrete { 1 }
resources(function()
  return { shared_bytes = fault == "outside" and 240 or 0, invocations = { 8, 8 }, groups = { 1 } }
end)
kernel { template = "faulty.comp" }
