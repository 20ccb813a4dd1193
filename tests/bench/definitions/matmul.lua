-- A product of matrices in the layout of operator.matmul.
local N, M, K = size("N", 256), size("M", 256), size("K", 256)
local A, B = tensor("A", { N, K }), tensor("B", { K, M })
output(compute("C", { N, M }, function(i, j) return sum({ { "k", K } }, function(k) return A(i, k) * B(k, j) end) end))
