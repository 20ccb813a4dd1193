-- The same product with more or less work that changes nothing: which configuration wins is known. Each has many times
-- the work of the next, so that a machine which does other things meanwhile hides none.
operator.matmul { N = 64, M = 64, K = 64 }

param.work = categorical { "most", "much", "some", "least" }

kernel { template = "work.comp", groups = function() return { 1, 64 } end }
