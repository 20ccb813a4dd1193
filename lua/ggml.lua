-- What ggml's Vulkan host (ggml-vulkan.cpp) is told for one kind of device: an `if` of its own, behind those of other devices.
--
--     export("ggml", print, ggml.host(function(c, found) return { { place =, name =, value = }, ... } or nil, why end, test, has_units))
--
-- `has_units` says that the tuples are those of devices with matrix units.
-- `place` says where the assignment stands: ggml.tuples (the tuples of mul_mm), ggml.denominators (the blocks of D by which workgroups
-- are counted) or ggml.rows (of mul_mat_vec). Places are found by what the file says, never by the numbers of lines.
local ggml = {}

-- A place is behind the first chain of `if`s below a line, or behind the first line below it that begins with some words.
ggml.tuples       = { what = "the tuples' chip specific tuning", below = "// chip specific tuning" }
ggml.denominators = { what = "the denominators behind the tuples", below = "// chip specific tuning", behind = "s_align =" }
ggml.rows         = { what = "the rows of mul_mat_vec (rm_stdq, rm_kq)", below = "uint32_t rm_stdq =" }

-- The most lines from the line to the place.
local NEAR = 60

local function starts(text, words) return text:sub(1, #words) == words end
local function contains(text, words)
  for i = 1, #text - #words + 1 do
    if text:sub(i, i + #words - 1) == words then return true end
  end
  return false
end

-- Returns a line's indentation, and the line without it.
local function split(line)
  local i = 1
  while line:byte(i) == 32 or line:byte(i) == 9 do i = i + 1 end
  return line:sub(1, i - 1), line:sub(i)
end

-- How drivers' names begin, the number of the vendor, and VkDriverId.
local drivers = {
  { "radv", 0x1002, "eMesaRadv" }, { "AMD open-source driver", 0x1002, "eAmdOpenSource" },
  { "AMD proprietary driver", 0x1002, "eAmdProprietary" }, { "Intel open-source Mesa driver", 0x8086, "eIntelOpenSourceMESA" },
  { "Intel Corporation", 0x8086, "eIntelProprietaryWindows" }, { "NVIDIA", 0x10de, "eNvidiaProprietary" }, { "NVK", 0x10de, "eMesaNvk" },
  { "turnip", 0x5143, "eMesaTurnip" }, { "Qualcomm", 0x5143, "eQualcommProprietary" }, { "Honeykrisp", 0x106b, "eMesaHoneykrisp" },
  { "MoltenVK", 0x106b, "eMoltenvk" }, { "panvk", 0x13b5, "eMesaPanvk" }, { "Mali", 0x13b5, "eArmProprietary" },
  { "V3DV", 0x14e4, "eMesaV3Dv" }, { "llvmpipe", 0x10005, "eMesaLlvmpipe" }, { "SwiftShader", 0x1ae0, "eGoogleSwiftshader" },
}

-- ggml tells architectures apart by the sizes of subgroups, and AMD's further by what RADV's names of devices say.
local function architecture(vendor, name)
  if vendor == 0x8086 then return device.subgroup_least == 16 and "INTEL_XE2" or nil end
  if vendor ~= 0x1002 then return nil end
  if device.subgroup_least == 64 then return "AMD_GCN" end
  for generation, ours in pairs { AMD_RDNA1 = { "NAVI1" }, AMD_RDNA2 = { "NAVI2" }, AMD_RDNA3 = { "NAVI3", "GFX12" } } do
    for _, word in ipairs(ours) do
      if contains(name, word) then return generation end
    end
  end
end

-- The condition of the device that was measured. The file's own name of the vendor is used where it has one, else the number.
local function condition(lines, found, has_units)
  for _, driver in ipairs(drivers) do
    local begin, number, id = table.unpack(driver)
    if starts(found.driver, begin) then
      local vendor, kind = ("0x%x"):format(number), architecture(number, found.device)
      local knows_kind = false
      for _, line in ipairs(lines) do
        if starts(line, "#define VK_VENDOR_ID_") and contains(line .. " ", (" 0x%x "):format(number)) then
          vendor = line:sub(9, #line - #(" 0x%x"):format(number))
        end
        local _, text = split(line)
        knows_kind = knows_kind or kind and starts(text, kind .. ",")
      end
      return "device->vendor_id == " .. vendor .. (knows_kind and " && device->architecture == " .. kind or "")
          .. " && device->driver_id == vk::DriverId::" .. id .. " && " .. (has_units and "" or "!") .. "device->coopmat_support"
    end
  end
  return nil, "the driver '" .. found.driver .. "' is of no vendor that is known here"
end

-- Returns the number of the last line of the place, and its indentation.
local function find_place(lines, place)
  local from
  for i = 1, #lines do
    local indent, text = split(lines[i])
    if not from and starts(text, place.below) then from = { line = i } end
    if from and i - from.line > NEAR then return nil end
    if from and i > from.line then
      if place.behind and starts(text, place.behind) then return i, indent end
      if not place.behind and not from.indent and starts(text, "if (") then from.indent = indent end
      if from.indent == indent and text == "}" then return i, indent end
    end
  end
end

-- Returns the lines of the `if` of that condition behind the place: its head and its last line, or nil.
local function find_branch(lines, place, head)
  local at = find_place(lines, place)
  if not at or lines[at + 1] ~= head then return nil end
  local indent, stop = split(head), at + 2
  while lines[stop] and lines[stop] ~= indent .. "}" do stop = stop + 1 end
  return at + 1, stop
end

-- Adds an assignment to the `if` of the device, which is made where there is none. Returns nil and why where it has no place.
local function assign(lines, found, one, has_units)
  local when, why = condition(lines, found, has_units)
  if not when then return nil, why end
  local at, indent = find_place(lines, one.place)
  if not at then return nil, "ggml-vulkan.cpp has changed: " .. one.place.what .. " was not found" end
  local head = indent .. "if (" .. when .. ") {"
  local new = indent .. "    " .. one.name .. " = " .. one.value .. ";"
  local there = find_branch(found.original, one.place, head)
  if there then return nil, ("ggml-vulkan.cpp:%d: a branch for this device is there already"):format(there) end
  local begin, stop = find_branch(lines, one.place, head)
  if not begin then
    local measured = indent .. "    // measured on " .. found.device .. ", " .. found.driver
    for i, line in ipairs { head, measured, new, indent .. "}" } do table.insert(lines, at + i, line) end
    return true
  end
  for i = begin, stop do
    if lines[i] == new then return true end
    if starts(lines[i], indent .. "    " .. one.name .. " =") then
      return nil, "another of these sessions sets " .. one.name .. " too, to something else"
    end
  end
  table.insert(lines, stop, new)
  return true
end

-- The matrices of experts, where the choice `matrices` says that there are: nil, or { count, used, about, operator(...), counts() }.
-- Each token chooses `used` of `count` matrices of M rows; IDS has their numbers, D the results in the same order.
function ggml.experts(K)
  if choice("matrices", { "one", "experts" }) == "one" then return nil end
  local x = { count = size("count", device.is_cpu and 4 or 8), used = size("used", 2) }
  x.about = (" (MUL_MAT_ID, %d of %d experts)"):format(x.used, x.count)

  -- `bits` of a weight: it is rated by what it reads.
  function x.operator(name, matrices, kind, M, tokens, K, bits)
    local all = tokens * x.used
    return {
      name = name, flop = 2 * M * all * K, bytes = bits and x.used * M * K * bits / 8 + 4 * (tokens * K + all * M) or nil,
      inputs = { matrices, { "B", tokens, K, fill = { -4, 4, whole = true } }, { "IDS", tokens, x.used, type = "i32", fill = { 0, x.count - 1 } } },
      output = { "D", tokens, x.used, M },
      reference = { template = "experts_reference.comp", groups = { (M + 63) // 64, all } },
      tolerance = { nmse = 5e-4, exact = true },
    }
  end

  -- How often each is chosen, in scratch.
  function x.counts()
    kernel { template = "experts_counts.comp", once = true, groups = function() return { 1 } end }
    scratch(function() return 4 * x.count end)
  end
  return x
end

function ggml.host(settings, test, has_units)
  return {
    files = { "src/ggml-vulkan/ggml-vulkan.cpp", "ggml/src/ggml-vulkan/ggml-vulkan.cpp", "ggml-vulkan.cpp" },
    test = test,
    edit = function(lines, c, found)
      local all, why = settings(c, found)
      if not all then return nil, why end
      for _, one in ipairs(all) do
        local done, why_not = assign(lines, found, one, has_units)
        if not done then return nil, why_not end
      end
      return lines
    end,
  }
end

return ggml
