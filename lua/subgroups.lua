-- The size of subgroups: a parameter where a device lets kernels choose among several.
--
--     subgroups.least             the smallest
--     subgroups.choices           how many there are
--     subgroups.tiled             whether lanes may be laid out by it: on a GPU that says what it is going to be
--     subgroups.size(c)           of c's kernel
--     subgroups.choose(threads)   declares param.subgroup_size, where there is a choice, and that workgroups of threads(c)
--                                 invocations are whole subgroups; returns what kernel { subgroup = } takes
--     subgroups.smallest(threads) the same for kernels that always ask for the smallest

local subgroups = {}

local sizes, size = {}, math.max(device.subgroup_least, 1)
while size <= device.subgroup_most do
  sizes[#sizes + 1] = size
  size = 2 * size
end

subgroups.least = #sizes > 1 and sizes[1] or device.subgroup_size

subgroups.choices = #sizes

subgroups.tiled = not device.is_cpu and device.subgroup_least > 0

function subgroups.size(c) return #sizes > 1 and c.subgroup_size or device.subgroup_size end

local function full(threads, size)
  constraint("full subgroups", function(c)
    local n, of = threads(c), size(c)
    return n % of == 0 and n // of <= device.group_subgroups
  end)
  return size
end

function subgroups.choose(threads)
  if #sizes <= 1 then return nil end
  param.subgroup_size = discrete(sizes)
  return full(threads, subgroups.size)
end

function subgroups.smallest(threads)
  return #sizes > 1 and full(threads, function() return subgroups.least end) or nil
end

return subgroups
