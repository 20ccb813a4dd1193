-- presets/conv-axes.lua: convolution whose kernel, stride, dilation and padding differ between rows and columns, by its definition;
-- of one row: over one axis
local axes = include "axes.lua"
local N, CI, CO = size("batch", 1), size("in_channels", 16), size("out_channels", 32)
local image, kernel = { size("height", 1), size("width", 256) }, axes.sizes("kernel", { 1, 3 })
local stride, dilation = axes.sizes("stride", { 1, 1 }), axes.sizes("dilation", { 1, 1 })
local before, after = axes.sizes("before", { 0, 1 }, 0), axes.sizes("after", { 0, 1 }, 0) -- padding
local groups, type = size("groups", 1), choice("type", { "f32", "f16" })
if CI % groups ~= 0 or CO % groups ~= 0 then error(groups .. " groups divide not both " .. CI .. " and " .. CO .. " channels") end

local padded, out = {}, {}
for i = 1, 2 do
  padded[i] = image[i] + before[i] + after[i]
  local room = padded[i] - (kernel[i] - 1) * dilation[i] - 1
  if room < 0 then error("the kernel is larger than the padded image") end
  out[i] = room // stride[i] + 1
end
local inputs, outputs = CI // groups, CO // groups
local X, W = tensor("X", { N, CI, image[1], image[2] }, type), tensor("W", { CO, inputs, kernel[1], kernel[2] }, type)
local all = { N, CO, out[1], out[2] }
local finish = axes.epilogue(all, type)

local function inside(i, at)
  return (before[i] == 0 or at >= before[i]) and (after[i] == 0 or at < image[i] + before[i])
end

local P = compute("P", { N, CI, padded[1], padded[2] }, function(n, c, y, x)
  return inside(1, y) and inside(2, x) and X(n, c, y - before[1], x - before[2]) or 0.0
end)
finish(compute("S", all, function(n, f, y, x)
  return sum({ { "c", inputs }, { "r", kernel[1] }, { "s", kernel[2] } }, function(c, r, s)
    local channel = groups == 1 and c or f // outputs * inputs + c
    return P(n, channel, y * stride[1] + r * dilation[1], x * stride[2] + s * dilation[2]) * W(f, c, r, s)
  end)
end))
