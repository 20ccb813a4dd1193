-- What a shader of others is given, and what its maintainers are handed back.
--
--     foreign.spec(list)                          for kernel { spec = } of a list of specialization constants, { id, name, value };
--                                                 what has no id (nil) is a macro, or a size, and only in the header
--     foreign.header(shader, about, list)         a C header of them
--     foreign.diff(file, about, changes, found)   a unified diff of tuples, { name in the file, old, new } with lists of numbers, below
--                                                 what is known of them; nil and the reason where all are as they were
--     foreign.ncnn(is_local)                      the macros that ncnn's host defines for 32-bit storage, with local memory or without
--     foreign.ncnn_local_size                     the line that it puts above a shader

local foreign = {}

function foreign.spec(list)
  local all = {}
  for _, constant in ipairs(list) do
    if constant[1] then all[constant[1]] = constant[3] end
  end
  return all
end

function foreign.header(shader, about, list)
  local lines = { "/* " .. shader .. ", specialization constants: " .. about .. " */" }
  for _, constant in ipairs(list) do
    local name = shader:upper() .. "_" .. constant[2]:upper()
    if constant[1] then table.insert(lines, ("#define %s_ID %d"):format(name, constant[1])) end
    table.insert(lines, ("#define %s %s"):format(name, tostring(constant[3])))
  end
  return table.concat(lines, "\n")
end

local function line(sign, name, tuple) return sign .. name .. " = { " .. table.concat(tuple, ", ") .. " };" end

function foreign.diff(file, about, changes, found)
  local removed, added, names = {}, {}, {}
  for _, change in ipairs(changes) do
    local name, old, new = table.unpack(change)
    table.insert(names, name)
    if line("+", name, old) ~= line("+", name, new) then
      table.insert(removed, line("-", name, old))
      table.insert(added, line("+", name, new))
    end
  end
  if #added == 0 then return nil, table.concat(names, ", ") .. " is what ships: there is nothing to change" end
  local lines = #added == 1 and "1" or "1," .. #added
  return table.concat({
    about, "", found.told, "--- a/" .. file, "+++ b/" .. file, ("@@ -%s +%s @@"):format(lines, lines),
    table.concat(removed, "\n"), table.concat(added, "\n"),
  }, "\n")
end

foreign.ncnn_local_size = "layout(local_size_x_id = 233, local_size_y_id = 234, local_size_z_id = 235) in;"

function foreign.ncnn(is_local)
  return {
    sfp = "float", sfpvec4 = "vec4", afp = "float", afpvec4 = "vec4", afpmat4 = "mat4", lfpvec4 = "vec4", NCNN_moltenvk = 0,
    NCNN_shader_local_memory = is_local and 1 or 0,
    ["psc(x)"] = "(x == 0 ? p.x : x)", ["lfp2afpvec4(v)"] = "v", ["afp2lfpvec4(v)"] = "v",
    ["buffer_ld1(b, i)"] = "b[i]", ["buffer_st1(b, i, v)"] = "{ b[i] = v; }",
    ["buffer_ld4(b, i)"] = "b[i]", ["buffer_sm4(b, i)"] = "b[i]", ["buffer_st4(b, i, v)"] = "{ b[i] = v; }",
  }
end

return foreign
