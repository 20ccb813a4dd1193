-- presets/networks/bert-base.lua: the encoder of BERT-base
network "BERT-base: its encoder, without layer norm and masks of padding (no operator has them), with relu for its GELU"

local layer_count, tokens = size("layers", 12), size("tokens", 128)
local hidden, heads = 768, 12
local layers = include "layers.lua"
local type = layers.type()

local x = input { name = "embeddings", sizes = { tokens, hidden }, type = type }

for i = 1, layer_count do
  local function dense(name, from, outputs, activation, residual)
    return layers.dense { name .. i, from, rows = tokens, outputs = outputs, bias = true, activation = activation,
                          residual = residual }
  end
  local query, key, value = dense("query", x, hidden), dense("key", x, hidden), dense("value", x, hidden)
  local seen = layers.attention { "attention" .. i, query, key, value, heads = heads }
  x = dense("attended", seen, hidden, "none", x)
  x = dense("narrow", dense("wide", x, 4 * hidden, "relu"), hidden, "none", x)
end

output(x)
