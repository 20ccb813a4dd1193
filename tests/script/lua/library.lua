-- What Lua's library does here, in an order that is the same in every run.
param.p = factors(8, 2)
operator.matmul { N = 8, M = 8, K = 8 }
kernel { template = 't.comp', groups = function() return { 1 } end }

constraint('keys are walked in order', function()
  local t = { z = 1, a = 2, [3] = 3, [1] = 4, [2.5] = 5, [true] = 6, [false] = 7, b = 8, aa = 9, [-1] = 10 }
  local s = ''
  for k, v in pairs(t) do s = s .. tostring(k) .. '=' .. v .. ' ' end
  assert(s == 'false=7 true=6 -1=10 1=4 2.5=5 3=3 a=2 aa=9 b=8 z=1 ', s)
  return true
end)
constraint('a key may go meanwhile', function()
  local t, n = { a = 1, b = 2, c = 3 }, 0
  for k in pairs(t) do
    t.b = nil
    n = n + 1
  end
  return n == 2
end)
constraint('numbers are sorted', function()
  local t = { 5, 3, 9 }
  table.sort(t)
  return table.concat(t) == '359'
end)
constraint('an order is obeyed', function()
  local t = { 'b', 'a' }
  table.sort(t, function(a, b) return a > b end)
  return t[1] == 'b'
end)
constraint('texts are repeated', function()
  return ('ab'):rep(3, '-') == 'ab-ab-ab' and ('x'):rep(0) == '' and ('x'):rep(1) == 'x'
end)
constraint('texts are formatted', function()
  return string.format('%d %s %5.2f %q', 3, 'x', 1.5, 'y') == '3 x  1.50 "y"'
end)
constraint('arguments are selected', function()
  return select('#', 1, nil) == 2 and select(2, 'a', 'b') == 'b'
end)
constraint('lists grow and shrink', function()
  local t = { 1, 2 }
  table.insert(t, 3)
  table.insert(t, 1, 0)
  return #t == 4 and t[1] == 0 and table.remove(t) == 3 and table.remove(t, 1) == 0
end)
constraint('numbers and texts are turned into each other', function()
  return tonumber('0x10') == 16 and tostring(1.0) == '1.0' and tostring(nil) == 'nil'
end)
constraint('there is arithmetic', function()
  return math.max(1, 2) == 2 and 7 // 2 == 3 and math.tointeger(3.0) == 3
end)
constraint('nothing is walked not at all', function()
  for _ in ipairs({}) do error('never') end
  return true
end)
