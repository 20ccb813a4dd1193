-- A batch of products, summed in f32 (bytes: in 32 bits), with a bias and a relu: for matrix units, by its definition.
local B, N, M, K = size("B", 2), size("N", 250), size("M", 384), size("K", 200)
local type = choice("type", { "f16", "bf16", "f8e4m3", "f8e5m2", "u8", "i8" })
choice("units", { "auto", "khr", "nv", "emulated", "none" })
local X, W, bias = tensor("X", { B, N, K }, type), tensor("W", { B, K, M }, type), tensor("bias", { M })
local C = compute("C", { B, N, M }, function(b, i, j)
  return sum({ { "k", K } }, function(k) return X(b, i, k) * W(b, k, j) end)
end)
output(compute("Y", { B, N, M }, function(b, i, j)
  local y = max(C(b, i, j) + bias(j), 0.0)
  return type == "f16" and cast(y, type) or y
end))
