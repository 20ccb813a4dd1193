-- Products of matrices in the layout of operator.matmul.
local batch, N, M, K = size("batch", 8), size("N", 128), size("M", 128), size("K", 128)
local A, B = tensor("A", { batch, N, K }), tensor("B", { batch, K, M })
output(compute("C", { batch, N, M }, function(b, i, j)
  return sum({ { "k", K } }, function(k) return A(b, i, k) * B(b, k, j) end)
end))
