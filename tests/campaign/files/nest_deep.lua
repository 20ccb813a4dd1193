-- Formulas without an end.
operator.matmul { N = 8, M = 8, K = 8 }
param.p = factors(8, 2)
nest(function(d, c)
  local f = c.p[1]
  for i = 1, 200000 do f = d.min(f, f) + f end
  d.loop { "l", length = f }
end)
kernel { template = "plain.comp", groups = function() return { 1 } end }
