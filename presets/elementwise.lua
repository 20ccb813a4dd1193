-- presets/elementwise.lua: Y[i] = f(X[i]), X[i] + Z[i], X[i] - Z[i] or X[i] * Z[i]
local plain, plain_nest = include "plain.lua", include "plain_nest.lua"

local op = operator.elementwise {
  count = size("count", device.is_cpu and 1 << 20 or 1 << 26),
  apply = choice("apply", { "relu", "leaky", "clamp", "sigmoid", "tanh", "add", "sub", "mul" }),
  type  = choice("type", { "f32", "f16" }),
  slope = number("slope", 0.01), low = number("low", 0), high = number("high", 6), -- of leaky and clamp
}

plain.parameters(op.count)
constraint("one line", function(c) return c.group[3] == 1 end)

local function grid(c) return plain.grid(1, op.count, c) end

plain.kernel("elementwise.comp", op, grid, function(c)
  return { accumulators = c.vector, statements = 3 * c.each }
end)

local operations = { -- of an element
  relu = { compare = 1 }, leaky = { compare = 2, multiply = 1, add = 1 }, clamp = { compare = 2 },
  sigmoid = { special = 1, add = 1, divide = 1 }, tanh = { multiply = 1, special = 1, add = 2, divide = 1 },
  add = { add = 1 }, sub = { add = 1 }, mul = { multiply = 1 },
}
local inputs = (op.apply == "add" or op.apply == "sub" or op.apply == "mul") and { "x", "z" } or { "x" }
plain_nest.elementwise(op, op.count, inputs, operations[op.apply])
