-- tests/bench/landscapes/alexnet.lua: presets/networks/alexnet.lua over spaces with few parameters
network "AlexNet, over spaces with few parameters"

local image = size("image", 67, 67)
local layers = include "layers.lua"

local x = input { name = "image", sizes = { 1, 3, image, image } }

local function convolution(name, channels, kernel, stride, padding)
  x = layers.convolution { name, x, channels = channels, kernel = kernel, stride = stride, padding = padding,
                           bias = true, activation = "relu", preset = "few-conv.lua" }
end

local function pool(name) x = layers.maxpool { name, x, window = 3, stride = 2 } end

local function dense(name, outputs, activation)
  x = layers.dense { name, x, outputs = outputs, bias = true, activation = activation, preset = "few-gemm.lua" }
end

convolution("conv1", 64, 11, 4, 0)
pool("pool1")
convolution("conv2", 192, 5, 1, 2)
pool("pool2")
convolution("conv3", 384, 3, 1, 1)
convolution("conv4", 256, 3, 1, 1)
convolution("conv5", 256, 3, 1, 1)
pool("pool5")
dense("dense1", 4096, "relu")
dense("dense2", 4096, "relu")
dense("dense3", 1000, "none")
output(layers.softmax { "softmax", x })
