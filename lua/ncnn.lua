-- ncnn's convolutions by products of matrices, as its Vulkan layers have them: an invocation computes four elements of four channels.
-- Images have their channels in fours (pack=4) or one by one, weights lie in 4 x 4. It runs with local memory and without.
--
--     ncnn.convolution {
--       name =, shader =, bindings =,                         of the operator; the file without .comp; the last binding is of biases, none here
--       pack =, in_channels =, out_channels =, elements =, outputs =, taps =,      elements: of a channel of the image; taps: of a kernel
--       behind = { channels, filters },                       what the memory of X and W has more, in fours where they are
--       steps =,                                              of the reference: from W and IMAGE, one channel after the other, to SUMS
--       constants =, first =, sizes =,                        { id, name, value } that are fixed; the first size's id; { name, value } each
--       about =,                                              what the exported header says of the problem
--     }

local foreign = include "foreign.lua"

local ncnn = {}

function ncnn.convolution(s)
  local C, O, S, Q, fours = s.in_channels, s.out_channels, s.elements, s.outputs, s.pack == "4"
  local four, whole = fours and 4 or 1, { -4, 4, whole = true }
  local channels = C // four + s.behind[1]
  local steps = { { "strided", "X", "IMAGE", count = four * channels * S, n2 = C // four, n3 = four, n4 = S, s2 = four * S, s3 = 1, s4 = four } }
  for _, step in ipairs(s.steps) do table.insert(steps, step) end
  table.insert(steps, { "strided", "SUMS", "Y", count = O * Q, n2 = O // four, n3 = Q, n4 = four, s2 = four * Q, s3 = 1, s4 = Q })
  operator.define {
    name      = s.name,
    flop      = 2 * O * C * s.taps * Q,
    inputs    = { { "X", channels, S, fours and 4 or nil, fill = whole }, { "W", O // 4 + s.behind[2], C // 4 * s.taps, 4, 4, fill = whole } },
    output    = { "Y", O // four, Q, fours and 4 or nil },
    reference = steps,
    tolerance = { nmse = 5e-4, exact = true },
  }

  param.x      = discrete { 1, 2, 4, 8, 16, 32, 64, 128 }
  param.y      = discrete { 1, 2, 4, 8, 16, 32, 64, 128 }
  param.memory = categorical { "global", "local" }
  param.sizes  = categorical { "pushed", "constant" }

  resources(function(c) return {
    invocations  = { c.x, c.y },
    shared_bytes = c.memory == "local" and 2 * 8 * 8 * 4 * 16 or 0,
    groups       = { (Q // 4 + c.x - 1) // c.x, (O // 4 + c.y - 1) // c.y },
  } end)

  local function constants(c)
    local all = { table.unpack(s.constants) }
    for _, constant in ipairs { { s.first - 2, "elempack", four }, { s.first - 1, "out_elempack", four },
                                { 233, "local_size_x", c.x }, { 234, "local_size_y", c.y }, { 235, "local_size_z", 1 } } do
      table.insert(all, constant)
    end
    for i, size in ipairs(s.sizes) do table.insert(all, { s.first + i - 1, size[1], c.sizes == "constant" and size[2] or 0 }) end
    return all
  end
  local pushed = {}
  for i, size in ipairs(s.sizes) do pushed[i] = size[2] end

  kernel {
    shader   = "ncnn/" .. s.shader .. ".comp", include = { "ncnn" }, preamble = foreign.ncnn_local_size, bindings = s.bindings,
    define   = function(c) return foreign.ncnn(c.memory == "local") end,
    spec     = function(c) return foreign.spec(constants(c)) end,
    push     = function() return pushed end,
  }

  baseline {
    ["local"]  = { x = 8, y = 8, memory = "local", sizes = "pushed" },
    ["global"] = { x = 8, y = O >= 32 and 8 or O >= 16 and 4 or O >= 8 and 2 or 1, memory = "global", sizes = "pushed" },
  }

  export("constants", function(c)
    return foreign.header(s.shader, ("%s, pack %s, local memory: %s"):format(s.about, s.pack, c.memory == "local" and "yes" or "no"), constants(c))
  end)
end

return ncnn
