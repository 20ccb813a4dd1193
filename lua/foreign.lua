-- What a shader of others is given, and what its maintainers are handed back.
--
--     foreign.spec(list)                          for kernel { spec = } of a list of specialization constants, { id, name, value }
--     foreign.header(shader, about, list)         a C header of them
--     foreign.diff(file, about, name, old, new)   a unified diff of a tuple: lists of numbers, `name` what it is called in the file;
--                                                                nil and the reason where it is as it was

local foreign = {}

function foreign.spec(list)
  local all = {}
  for _, constant in ipairs(list) do all[constant[1]] = constant[3] end
  return all
end

function foreign.header(shader, about, list)
  local lines = { "/* " .. shader .. ", specialization constants: " .. about .. " */" }
  for _, constant in ipairs(list) do
    local name = shader:upper() .. "_" .. constant[2]:upper()
    table.insert(lines, ("#define %s_ID %d"):format(name, constant[1]))
    table.insert(lines, ("#define %s %s"):format(name, tostring(constant[3])))
  end
  return table.concat(lines, "\n")
end

local function line(sign, name, tuple) return sign .. name .. " = { " .. table.concat(tuple, ", ") .. " };" end

function foreign.diff(file, about, name, old, new)
  if line("+", name, old) == line("+", name, new) then return nil, name .. " is what ships: there is nothing to change" end
  return table.concat({
    about, "--- a/" .. file, "+++ b/" .. file, "@@ -1 +1 @@", line("-", name, old), line("+", name, new),
  }, "\n")
end

return foreign
