-- presets/networks/alexnet.lua: AlexNet as one tower (64, 192, 384, 256, 256 filters), without padding in front
network "AlexNet: 26 operators (a reconstruction, the papers do not list theirs) in 12 kernels"

-- The 26: 5 convolutions, 4 additions of a bias and 4 relus of images (those of conv4 and conv5 are alike), 3 pools, a
-- flattening, 3 products, 2 additions of a bias, a relu, and the 3 parts of a softmax. Bias and relu are computed with
-- the sums that they follow, the softmax is one kernel, and flattening moves nothing.
local batch, image = size("batch", 1), size("image", 227, 67)
local layers = include "layers.lua"
local type = layers.type()

local x = input { name = "image", sizes = { batch, 3, image, image }, type = type }

local function convolution(name, channels, kernel, stride, padding)
  x = layers.convolution { name, x, channels = channels, kernel = kernel, stride = stride, padding = padding,
                           bias = true, activation = "relu" }
end

local function pool(name) x = layers.maxpool { name, x, window = 3, stride = 2 } end

local function dense(name, outputs, activation)
  x = layers.dense { name, x, outputs = outputs, bias = true, activation = activation }
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
