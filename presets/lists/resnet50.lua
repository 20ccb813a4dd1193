-- presets/lists/resnet50.lua: the convolutions of ResNet-50, each shape once
about "ResNet-50 (strides in the 3x3, as torchvision has it): the 23 shapes of its 53 convolutions, batch 1"

local function convolution(kernel, inputs, outputs, size, stride, uses)
  local name = kernel .. "x" .. kernel .. "-" .. inputs .. "-" .. outputs .. "-" .. size
  item { label = stride == 1 and name or name .. "-s" .. stride, uses = uses,
         preset = kernel == 1 and "conv1x1" or "conv-implicit", set = {
    batch = 1, in_channels = inputs, height = size, width = size, out_channels = outputs,
    kernel_h = kernel, kernel_w = kernel, stride = stride, padding = kernel // 2,
  } }
end

convolution(7, 3, 64, 224, 2, 1)

-- A stage of blocks: to `narrow` channels, 3x3 there, to four times as many. The first block makes the image smaller
-- and has a convolution beside it.
local function stage(inputs, narrow, size, stride, blocks)
  local wide, small = 4 * narrow, size // stride
  convolution(1, inputs, narrow, size, 1, 1)
  if stride == 1 then
    convolution(3, narrow, narrow, small, 1, blocks)
    convolution(1, narrow, wide, small, 1, blocks + 1) -- the one beside the first block has this shape too
  else
    convolution(3, narrow, narrow, size, stride, 1)
    convolution(3, narrow, narrow, small, 1, blocks - 1)
    convolution(1, narrow, wide, small, 1, blocks)
    convolution(1, inputs, wide, size, stride, 1)
  end
  convolution(1, wide, narrow, small, 1, blocks - 1)
end

stage(64, 64, 56, 1, 3)
stage(256, 128, 56, 2, 4)
stage(512, 256, 28, 2, 6)
stage(1024, 512, 14, 2, 3)
