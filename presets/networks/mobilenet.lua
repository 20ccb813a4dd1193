-- presets/networks/mobilenet.lua: MobileNet (v1, width 1): convolutions of each channel by itself, then of single pixels
network "MobileNet v1: depthwise and 1x1 convolutions, batch norm folded in, bias and relu as their epilogue"

local batch, image = size("batch", 1), size("image", 224, 32)
local layers = include "layers.lua"
local type = layers.type()

local x = input { name = "image", sizes = { batch, 3, image, image }, type = type }
x = layers.convolution { "conv1", x, channels = 32, kernel = 3, stride = 2, padding = 1, bias = true, activation = "relu" }

for i, row in ipairs { -- channels, stride
  { 64, 1 }, { 128, 2 }, { 128, 1 }, { 256, 2 }, { 256, 1 }, { 512, 2 },
  { 512, 1 }, { 512, 1 }, { 512, 1 }, { 512, 1 }, { 512, 1 }, { 1024, 2 }, { 1024, 1 },
} do
  x = layers.depthwise { "depthwise" .. i, x, kernel = 3, stride = row[2], padding = 1, bias = true, activation = "relu" }
  x = layers.convolution { "pointwise" .. i, x, channels = row[1], kernel = 1, bias = true, activation = "relu" }
end

x = layers.avgpool { "pool", x, window = x.sizes[3] }
x = layers.dense { "dense", x, outputs = 1000, bias = true }
output(layers.softmax { "softmax", x })
