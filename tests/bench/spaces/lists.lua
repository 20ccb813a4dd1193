-- Lists of values.
local lists = {}
function lists.upto(n, step, from)
  local list = {}
  for i = from or 1, n, step or 1 do list[#list + 1] = i end
  return list
end
function lists.join(a, b)
  local list = {}
  for _, v in ipairs(a) do list[#list + 1] = v end
  for _, v in ipairs(b) do list[#list + 1] = v end
  return list
end
return lists
