-- presets/networks/resnet50.lua: ResNet-50 with the strides in the 3x3 convolutions, as torchvision has it
network "ResNet-50: convolutions with batch norm folded in, relu and the shortcut as their epilogue"

local batch, image = size("batch", 1), size("image", 224, 32)
local layers = include "layers.lua"
local type = layers.type()

local function convolution(name, x, channels, kernel, stride, activation, shortcut)
  return layers.convolution {
    name, x, channels = channels, kernel = kernel, stride = stride, padding = kernel // 2,
    bias = true, activation = activation, residual = shortcut,
  }
end

local x = input { name = "image", sizes = { batch, 3, image, image }, type = type }
x = convolution("conv1", x, 64, 7, 2, "relu")
x = layers.maxpool { "pool1", x, window = 3, stride = 2, padding = 1 }

-- To `narrow` channels, 3x3 there, to four times as many, and the input beside it.
local function block(name, narrow, stride, is_first)
  local shortcut = is_first and convolution(name .. " shortcut", x, 4 * narrow, 1, stride, "none") or x
  local y = convolution(name .. " 1x1", x, narrow, 1, 1, "relu")
  y = convolution(name .. " 3x3", y, narrow, 3, stride, "relu")
  x = convolution(name .. " wide", y, 4 * narrow, 1, 1, "relu", shortcut)
end

for stage, blocks in ipairs { 3, 4, 6, 3 } do
  for i = 1, blocks do
    block(string.format("stage%d.%d", stage, i), 32 << stage, i == 1 and stage > 1 and 2 or 1, i == 1)
  end
end

x = layers.avgpool { "pool", x, window = x.sizes[3] }
output(layers.dense { "dense", x, outputs = 1000, bias = true })
