-- presets/lists/alexnet.lua: the layers of AlexNet that are worth tuning, bias and relu included
about "AlexNet (64, 192, 384, 256, 256 filters): five convolutions and three dense layers, batch 1, bias and relu included"

local function convolution(name, in_channels, size, out_channels, kernel, stride, padding)
  item { label = name, preset = "conv-implicit", set = {
    batch = 1, in_channels = in_channels, height = size, width = size, out_channels = out_channels,
    kernel_h = kernel, kernel_w = kernel, stride = stride, padding = padding, bias = "add", activation = "relu",
  } }
end

convolution("conv1", 3, 227, 64, 11, 4, 0)
convolution("conv2", 64, 27, 192, 5, 1, 2)
convolution("conv3", 192, 13, 384, 3, 1, 1)
convolution("conv4", 384, 13, 256, 3, 1, 1)
convolution("conv5", 256, 13, 256, 3, 1, 1)

local function dense(name, inputs, outputs, activation)
  item { label = name, preset = "gemm",
         set = { N = 1, M = outputs, K = inputs, layout = "nt", bias = "add", activation = activation } }
end

dense("dense1", 9216, 4096, "relu")
dense("dense2", 4096, 4096, "relu")
dense("dense3", 4096, 1000, "none")
