-- The tiles of a schedule in the words of ggml's Vulkan matrix product (mul_mm.comp), so that they can be tried there.
--
--     local text, why = ggml.tuple(plan, type, layout, warp)    nil and why: the schedule has no such form
--     warp: invocations of a subgroup
--
-- ggml calls m what lies side by side in the result: our columns, operand b; its n are our rows. A workgroup computes
-- BM x BN elements, a subgroup of WARP invocations WM x WN of them in WMITER x WNITER parts, an invocation TM x TN of
-- each part; BK elements of K are staged at once: 32, whatever the tuple says, for these types. TK is 1 without matrix
-- units. What a schedule says beside that has no place in the tuple: it is named in a second line.

local ggml = {}

local names = "BLOCK_SIZE, BM, BN, BK, WM, WN, WMITER, TM, TN, TK, WARP"
local load_widths = { f32 = 4, f16 = 8 }  -- elements that an invocation loads at once where sizes are aligned
local least_width = 2                     -- and where they are not
local pair_bytes = { f32 = 8, f16 = 4 }   -- of two elements in shared memory
local bk = 32

-- How a subgroup of `warp` invocations lies in the workgroup: its lanes along m and n. Nil: in no rectangle.
local function warp_lanes(p, warp)
  local along_m = math.min(p.b.lanes, warp)
  if warp % along_m ~= 0 or p.b.lanes % along_m ~= 0 then return nil end
  local along_n = warp // along_m
  if p.a.lanes % along_n ~= 0 then return nil end
  return along_m, along_n
end

-- What ggml asks of a tuple that does not hold of itself here, or nil.
local function refused(p, type)
  local width = load_widths[type]
  if not width then return "ggml has no loads for " .. type end
  if p.threads % (bk // least_width) ~= 0 then
    return "BLOCK_SIZE = " .. p.threads .. " loads no whole lines of BK = " .. bk .. " elements (no multiple of " .. bk // least_width .. ")"
  end
  local stride = p.threads * width // bk -- lines that it loads at once
  for name, tile in pairs { BM = p.b.tile, BN = p.a.tile } do
    if tile % stride ~= 0 then
      return name .. " = " .. tile .. " is no multiple of the " .. stride .. " lines that a workgroup loads at once"
    end
  end
  if p.b.registers % 2 ~= 0 then return "TM = " .. p.b.registers .. " is odd, and ggml keeps sums in pairs along m" end
  local bytes = (p.a.tile + p.b.tile) * (bk // 2 + 1) * pair_bytes[type]
  if bytes > device.shared_bytes then
    return "ggml's tiles take " .. bytes .. " bytes of shared memory, of " .. device.shared_bytes
  end
end

local function remarks(p, layout)
  local all = {}
  for _, x in ipairs { p.a, p.b } do
    if x.stage ~= "shared" then table.insert(all, "tiles of " .. x.name .. " by '" .. x.stage .. "'") end
  end
  if p.depth ~= bk then table.insert(all, "BK = " .. p.depth) end
  if p.parts > 1 then table.insert(all, "K in " .. p.parts .. " parts") end
  if layout ~= "nt" then table.insert(all, "layout " .. layout .. " (ggml's is nt)") end
  return #all > 0 and "\n// measured with " .. table.concat(all, ", ") .. ", which the tuple does not say" or ""
end

function ggml.tuple(p, type, layout, warp)
  for _, x in ipairs { p.a, p.b } do
    if x.gather then return nil, "operand " .. x.name .. " is gathered from an image, and no matrix" end
    if not x.staged then return nil, "operand " .. x.name .. " is not staged through shared memory" end
  end
  if (p.together or 1) > 1 then return nil, "a workgroup has several matrices" end
  local along_m, along_n = warp_lanes(p, warp)
  if not along_m then
    return nil, "a subgroup of " .. warp .. " covers no rectangle of the " .. p.b.lanes .. " x " .. p.a.lanes .. " invocations"
  end
  local why = refused(p, type)
  if why then return nil, why end
  local values = {
    p.threads, p.b.tile, p.a.tile, bk,
    along_m * p.b.registers * p.b.virtual, along_n * p.a.registers * p.a.virtual,
    p.b.virtual, p.b.registers, p.a.registers, 1, warp,
  }
  return "{" .. table.concat(values, ", ") .. "} // " .. names .. remarks(p, layout)
end

return ggml
