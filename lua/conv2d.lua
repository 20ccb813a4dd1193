-- Convolutions all of whose sizes and choices are left to who tunes them: `--set stride=2 --set layout=nhwc`.
--
--     op = conv2d.declare { in_channels = 64, out_channels = 64, height = 28, width = 28, kernel = 3, padding = 1 }
--     op = conv2d.declare { ..., accumulate = gemm.accumulate }    what sums of f16 can be, where that is not f32 and f16
--     op = conv2d.declare_depthwise { channels = 64, height = 56, width = 56, kernel = 3, padding = 1 }
--
-- declare the operator with these standard sizes (batch, stride, dilation, groups and multiplier are 1, padding is 0
-- where they are not given; types are all where none are given; algorithm: how it may round, a function of the type) and
-- return what operator.conv2d returns.

local epilogue, glsl = include "epilogue.lua", include "glsl.lua"

local conv2d = {}

local function declare(standard, in_channels, out_channels, groups)
  local fields = epilogue.declare {
    batch = size("batch", standard.batch or 1),
    in_channels = in_channels, out_channels = out_channels, groups = groups,
    height = size("height", standard.height), width = size("width", standard.width),
    kernel_h = size("kernel_h", standard.kernel), kernel_w = size("kernel_w", standard.kernel),
    stride = size("stride", standard.stride or 1), padding = size("padding", standard.padding or 0, 0),
    extra = size("extra", 0, 0), -- more rows and columns of padding behind the image than before it
    dilation = size("dilation", standard.dilation or 1),
    layout = choice("layout", { "nchw", "nhwc" }),
    type = choice("type", standard.types or glsl.types), accumulate = choice("accumulate", standard.accumulate or { "f32", "f16" }),
  }
  fields.algorithm = standard.algorithm and standard.algorithm(fields.type)
  return operator.conv2d(fields)
end

function conv2d.declare(standard)
  return declare(standard, size("in_channels", standard.in_channels), size("out_channels", standard.out_channels),
    size("groups", standard.groups or 1))
end

-- Each channel is a group of its own, with `multiplier` filters.
function conv2d.declare_depthwise(standard)
  local channels, multiplier = size("channels", standard.channels), size("multiplier", standard.multiplier or 1)
  return declare(standard, channels, channels * multiplier, channels)
end

return conv2d
