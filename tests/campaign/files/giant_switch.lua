-- A switch of 60000 cases.
operator.matmul { N = 8, M = 8, K = 8 }
param.p = factors(8, 2)
kernel { template = "giant_switch.comp", groups = function() return { 1 } end }
