-- What declarations of loop nests share: small formulas, and loops and buffers in few words.
--
--     local w = nest_words.of(d)          d: what the function of nest() is called with
--
-- A word of a schedule is a string in presets that fix it, and a parameter's in those that search over it.

local nest_words = {}

function nest_words.of(d)
  local w = {}

  -- Whether a word is one of these.
  function w.is(word, ...)
    if type(word) ~= "string" then return d.is(word, ...) end
    for _, other in ipairs { ... } do
      if word == other then return true end
    end
    return false
  end

  -- Where an item stands in an order.
  function w.place(order, item)
    if type(order) ~= "table" then return d.place(order, item) end
    for i, other in ipairs(order) do
      if other == item then return i - 1 end
    end
    error("no '" .. item .. "' in this order")
  end

  -- The widest vector (4, 2 or 1 elements) that divides n.
  function w.widest(n) return d.choose(d.equal(n % 4, 0), 4, d.choose(d.equal(n % 2, 0), 2, 1)) end

  -- A condition as 1 or 0 times a formula.
  function w.when(condition, formula) return d.choose(condition, formula, 0) end

  function w.product(factors)
    local product = 1
    for _, factor in ipairs(factors) do product = product * factor end
    return product
  end

  function w.loop(name, kind, length, place)
    return d.loop { name, kind = kind, length = length, place = place }
  end

  -- The lists, one after the other.
  function w.joined(...)
    local all = {}
    for _, list in ipairs { ... } do
      for _, item in ipairs(list) do all[#all + 1] = item end
    end
    return all
  end

  -- A cooperative load, by `threads` invocations, of rows of `row` neighbours in vectors of `vector`: its loops, and how
  -- far they move along the rows and across them. One of many rounds is a loop, of few is written out. What goes past
  -- the end of a row is in the next one: whole rows are told apart from what is left, which is exact where one divides
  -- the other.
  function w.cooperative(name, load)
    local rounds = d.ceil_div(load.elements // load.vector, load.threads)
    local looped = d.less(load.most_copied, rounds)
    local loops = {
      w.loop(name .. "_rounds", "serial", d.choose(looped, rounds, 1)),
      w.loop(name .. "_copies", "unrolled", d.choose(looped, 1, rounds)),
      w.loop(name .. "_vector", "vectorized", load.vector),
    }
    local along, across = loops[3], 0
    local function move(loop, elements)
      along, across = along + loop * (elements % load.row), across + loop * (elements // load.row)
    end
    local step = load.vector
    for _, lane in ipairs(load.lanes) do -- the fastest first
      move(lane.loop, step)
      step = step * lane.count
    end
    move(loops[1], step)
    move(loops[2], step)
    return { loops = loops, along = along, across = across }
  end

  -- The operations of an epilogue, and what it reads: see epilogue.lua. `elements` adds an element of a buffer each.
  function w.epilogue(op, elements)
    local is_whole = op.type == "i8"
    local e = { reads = {}, add = 0, multiply = 0, compare = 0, integer = 0 }
    local function count(kind, n) e[is_whole and "integer" or kind] = e[is_whole and "integer" or kind] + n end
    if op.scale ~= 1 then count("multiply", 1) end
    for _, name in ipairs { "bias", "residual" } do
      if op[name] == "add" then
        count("add", 1)
        e.reads[#e.reads + 1] = elements[name]
      end
    end
    if op.activation == "relu" then count("compare", 1)
    elseif op.activation == "clamp" then count("compare", 2)
    elseif op.activation == "leaky" then
      count("compare", 1)
      count("multiply", 1)
    end
    return e
  end

  return w
end

return nest_words
