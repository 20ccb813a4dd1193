-- A convolution as a product of matrices, as gemm_plan.lua takes it (implicit GEMM): weights times what they see.
--
--     local product = implicit_gemm.product(op)      op: what operator.conv2d returned
--
-- K goes over what one output pixel is the sum of, channels of its group and taps, in the order in which the weights
-- lie in memory. A group is a matrix of the product.
--
--     nchw    C[channels, pixels] = W[channels, K] X[K, pixels]      bias by rows
--     nhwc    C[pixels, channels] = X[pixels, K] W[K, channels]      bias by columns
--
-- X is gathered from the image while it is loaded. Under a kernel of 1x1 without stride and padding it simply is a
-- matrix; in nchw one for each image then.

local arithmetic, glsl, quads = include "arithmetic.lua", include "glsl.lua", include "quads.lua"
local widest = arithmetic.widest

local implicit_gemm = {}

local function gather(op, channels)
  return {
    channels_last = op.layout == "nhwc", channels = channels, all_channels = op.in_channels,
    height = op.height, width = op.width, out_height = op.out_height, out_width = op.out_width,
    kernel_h = op.kernel_h, kernel_w = op.kernel_w, stride = op.stride, padding = op.padding, extra = op.extra, dilation = op.dilation,
  }
end

-- nchw: columns are the pixels of an image, or of all images one after the other.
local function channels_first(op, s, weights, image)
  local columns, result = s.pixels, { pitch = s.pixels, from_matrix = s.outputs * s.pixels, widest = widest(s.pixels) }
  image.from_matrix = s.inputs * op.height * op.width
  if s.is_plain then
    image.row, image.pitch, image.widest, image.eights = s.pixels, s.pixels, widest(s.pixels), op.type == "f16" and arithmetic.divides(8, s.pixels)
  else
    columns = op.batch * s.pixels
    if op.batch > 1 then result.columns, result.image = s.pixels, op.out_channels * s.pixels end
  end
  result.bias = "rows"
  return { N = s.outputs, M = columns, a = weights, b = image, result = result }
end

-- nhwc: rows are the pixels of all images.
local function channels_last(op, s, weights, image)
  image.along_k, image.from_matrix, image.widest = true, s.inputs, widest(s.inputs, op.in_channels)
  image.eights = op.type == "f16" and arithmetic.divides(8, s.inputs, op.in_channels)
  image.row, image.pitch = s.inputs, s.is_plain and op.in_channels
  return {
    N = op.batch * s.pixels, M = s.outputs, a = image, b = weights,
    result = {
      pitch = op.out_channels, from_matrix = s.outputs, widest = widest(s.outputs, op.out_channels), bias = "columns",
    },
  }
end

function implicit_gemm.product(op)
  local s = { -- of one group; pixels of one output image
    inputs = op.in_channels // op.groups, outputs = op.out_channels // op.groups,
    pixels = op.out_height * op.out_width,
    is_plain = op.kernel_h * op.kernel_w * op.stride == 1 and op.padding + op.extra == 0,
  }
  local K = s.inputs * op.kernel_h * op.kernel_w
  local weights = {
    binding = op.bindings.W, along_k = true, row = K, pitch = K, widest = widest(K),
    eights = op.type == "f16" and arithmetic.divides(8, K), from_matrix = s.outputs * K, cycle = op.groups, elements = op.out_channels * K,
  }
  local image = {
    binding = op.bindings.X, widest = 1, elements = op.batch * op.in_channels * op.height * op.width,
    gather = not s.is_plain and gather(op, s.inputs) or nil,
  }
  local product = op.layout == "nchw" and channels_first(op, s, weights, image) or channels_last(op, s, weights, image)
  product.op, product.K = op, K
  product.matrices = op.layout == "nchw" and s.is_plain and op.batch * op.groups or op.groups
  product.result.binding = op.bindings.Y
  product.result.bias_place = { from_matrix = s.outputs, cycle = op.groups }
  product.buffer_bytes = math.max(
    glsl.bytes(op.type) * math.max(image.elements, weights.elements),
    glsl.bytes(glsl.output(op)) * op.batch * op.out_channels * s.pixels)
  product.quads = quads.of(product)
  return product
end

return implicit_gemm
