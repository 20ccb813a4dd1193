-- Sizes of a problem by the number of a published one: shape 0 is a small one, what CPU devices have unless --set says
-- another, and the others are those of the list.
--
--     local N, M, K = shapes.of({ "N", "M", "K" }, { 64, 64, 64 }, { { 128, 128, 128 }, { 512, 32, 512 } })

local shapes = {}

function shapes.of(names, small, published)
  local shape = size("shape", device.is_cpu and 0 or 1, 0)
  if shape > #published then error("there are shapes 0 to " .. #published .. ", not " .. shape) end
  local values = {}
  for i, name in ipairs(names) do values[i] = size(name, (published[shape] or small)[i], 0) end
  return table.unpack(values)
end

return shapes
