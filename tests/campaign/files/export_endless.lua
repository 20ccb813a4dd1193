-- Words for another program, without an end.
operator.matmul { N = 8, M = 8, K = 8 }
param.p = factors(8, 2)
export("ggml", function(c) while true do end end)
kernel { template = "plain.comp", groups = function() return { 1 } end }
