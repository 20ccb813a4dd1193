-- presets/lists/llama7b.lua: what a language model of 7 billion parameters computes for 1, 16 and 512 tokens at once
about "a 7B language model (32 layers of 4096, 32 heads of 128, MLP of 11008): its products for 1, 16 and 512 tokens"

local layers, heads, hidden, head, mlp, words, context = 32, 32, 4096, 128, 11008, 32000, 512

-- Weights lie as frameworks keep them, a row for each output.
local function dense(name, tokens, outputs, inputs, uses)
  item { label = name .. "-" .. tokens, preset = "gemm", uses = uses,
         set = { N = tokens, M = outputs, K = inputs, layout = "nt" } }
end

local function attention(name, tokens, M, K, layout)
  item { label = name .. "-" .. tokens, preset = "gemm", uses = layers,
         set = { batch = heads, N = tokens, M = M, K = K, layout = layout } }
end

for _, tokens in ipairs { 1, 16, 512 } do
  dense("query-key-value", tokens, 3 * hidden, hidden, layers)
  attention("scores", tokens, context, head, "nt")
  attention("values", tokens, head, context, "nn")
  dense("attention-out", tokens, hidden, hidden, layers)
  dense("gate-up", tokens, 2 * mlp, hidden, layers)
  dense("down", tokens, hidden, mlp, layers)
  dense("words", tokens, words, hidden, 1)
end
