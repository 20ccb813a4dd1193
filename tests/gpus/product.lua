-- A batch of products of halves, summed in f32, with a bias and a relu: for matrix units, by its definition.
local B, N, M, K = size("B", 2), size("N", 250), size("M", 384), size("K", 200)
local X, W, bias = tensor("X", { B, N, K }, "f16"), tensor("W", { B, K, M }, "f16"), tensor("bias", { M })
local C = compute("C", { B, N, M }, function(b, i, j)
  return sum({ { "k", K } }, function(k) return X(b, i, k) * W(b, k, j) end)
end)
output(compute("Y", { B, N, M }, function(b, i, j) return cast(max(C(b, i, j) + bias(j), 0.0), "f16") end))
