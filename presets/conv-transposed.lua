-- presets/conv-transposed.lua: transposed convolution, by its definition: that of an image with zeros between its points and around
-- it, by the kernel turned round; `before` rows and columns are cut off, and what is behind `out`
local axes = include "axes.lua"
local N, CI, CO = size("batch", 1), size("in_channels", 16), size("out_channels", 16)
local image, kernel = { size("height", 8), size("width", 8) }, axes.sizes("kernel", { 4, 4 })
local stride, dilation = axes.sizes("stride", { 2, 2 }), axes.sizes("dilation", { 1, 1 })
local before, out = axes.sizes("before", { 1, 1 }, 0), axes.sizes("out", { 16, 16 })
local groups, type = size("groups", 1), choice("type", { "f32", "f16" })
if CI % groups ~= 0 or CO % groups ~= 0 then error(groups .. " groups divide not both " .. CI .. " and " .. CO .. " channels") end

local reach, edge = {}, {}
for i = 1, 2 do
  reach[i] = (kernel[i] - 1) * dilation[i]
  edge[i] = reach[i] - before[i] -- zeros before the image; what it lacks of them is cut off
end
local inputs, outputs = CI // groups, CO // groups
local X, W = tensor("X", { N, CI, image[1], image[2] }, type), tensor("W", { CI, outputs, kernel[1], kernel[2] }, type)
local all = { N, CO, out[1], out[2] }
local finish = axes.epilogue(all, type)

local function hit(i, at)
  local last = (image[i] - 1) * stride[i] + edge[i]
  return at >= edge[i] and at <= last and (stride[i] == 1 or equal((at - edge[i]) % stride[i], 0))
end
local function from(i, at) return (at - edge[i]) // stride[i] end

local P = compute("P", { N, CI, out[1] + reach[1], out[2] + reach[2] }, function(n, c, y, x)
  return hit(1, y) and hit(2, x) and X(n, c, from(1, y), from(2, x)) or 0.0
end)
finish(compute("S", all, function(n, f, y, x)
  return sum({ { "c", inputs }, { "r", kernel[1] }, { "s", kernel[2] } }, function(c, r, s)
    local channel = groups == 1 and c or f // outputs * inputs + c
    return P(n, channel, y + r * dilation[1], x + s * dilation[2])
      * W(channel, groups == 1 and f or f % outputs, kernel[1] - 1 - r, kernel[2] - 1 - s)
  end)
end))
