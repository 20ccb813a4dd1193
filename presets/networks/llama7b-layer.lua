-- presets/networks/llama7b-layer.lua: one decoder layer of a language model of 7 billion parameters
network "a decoder layer of a 7B language model, without RMS norm and rotary embeddings (no operator has them)"

-- `tokens` at once: 1 while a text is written, 512 and more while one is read. Their keys and values go out to the
-- caches, which hold those of all `context` tokens and come in.
local tokens, context = size("tokens", 1), size("context", 512)
local hidden, mlp = size("hidden", 4096, 128), size("mlp", 11008)
local heads = hidden // 128
local layers = include "layers.lua"
local type = layers.type()

local function dense(name, from, outputs, residual)
  return layers.dense { name, from, rows = tokens, outputs = outputs, residual = residual }
end

local x = input { name = "tokens", sizes = { tokens, hidden }, type = type }
local keys = input { name = "keys", sizes = { context, hidden }, type = type }
local values = input { name = "values", sizes = { context, hidden }, type = type }

output(dense("key", x, hidden))
output(dense("value", x, hidden))
local seen = layers.attention { "attention", dense("query", x, hidden), keys, values, heads = heads, causal = true }
x = dense("attended", seen, hidden, x)

-- down(silu(gate) * up), silu(y) = y * sigmoid(y)
local gate, up = dense("gate", x, mlp), dense("up", x, mlp)
local silu = layers.mul { "silu", gate, layers.sigmoid { "sigmoid", gate } }
output(dense("down", layers.mul { "gated", silu, up }, hidden, x))
