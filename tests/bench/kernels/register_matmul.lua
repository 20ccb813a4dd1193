-- By hand: 8 rows by 8 columns of registers an invocation, the columns as many apart as there are lanes, so that
-- neighbours read neighbours of B and all read the same element of A. Rows and columns divide.
local batch, N, M, K = size("batch", 1), size("N", 256), size("M", 256), size("K", 256)
operator.batch_matmul { batch = batch, N = N, M = M, K = K, layout = choice("layout", { "nn", "nt", "tn", "tt" }) }
param.unused = discrete { 1 }
local lanes = M % 256 == 0 and not device.is_cpu and 32 or 8
kernel {
  template = "register_matmul.comp",
  values = function() return { lanes = lanes } end,
  groups = function() return { M // (8 * lanes), N // 8, batch } end,
}
