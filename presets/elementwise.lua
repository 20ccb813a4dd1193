-- presets/elementwise.lua: Y[i] = f(X[i]), or the sum, difference, product, ratio, larger or smaller of X[i] and Z[i]
local plain, plain_nest = include "plain.lua", include "plain_nest.lua"

local op = operator.elementwise {
  count = size("count", device.is_cpu and 1 << 20 or 1 << 26),
  apply = choice("apply", {
    "relu", "leaky", "clamp", "sigmoid", "tanh", "add", "sub", "mul", "div", "max", "min", "gelu", "gelu_tanh", "silu", "mish",
    "elu", "selu", "celu", "hardsigmoid", "hardswish", "softplus", "softsign", "erf", "exp", "log", "sqrt", "reciprocal",
    "abs", "neg", "floor", "ceil", "round", "sign",
  }),
  type  = choice("type", { "f32", "f16" }),
  slope = number("slope", 0.01), low = number("low", 0), high = number("high", 6), -- of those that have them (low: added)
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
  add = { add = 1 }, sub = { add = 1 }, mul = { multiply = 1 }, div = { divide = 1 }, max = { compare = 1 }, min = { compare = 1 },
  gelu = { multiply = 12, special = 3, add = 7, divide = 1 }, erf = { multiply = 9, special = 3, add = 6, divide = 1 },
  gelu_tanh = { multiply = 4, special = 1, add = 2, divide = 1 }, silu = { special = 1, add = 1, divide = 1 },
  mish = { compare = 1, special = 1, multiply = 2, add = 3, divide = 1 },
  elu = { compare = 2, special = 1, multiply = 1, add = 2 }, selu = { compare = 2, special = 1, multiply = 2, add = 2 },
  celu = { compare = 2, special = 1, multiply = 1, add = 2, divide = 1 }, hardsigmoid = { multiply = 1, add = 1, compare = 2 },
  hardswish = { multiply = 1, divide = 1, add = 1, compare = 2 }, softplus = { compare = 1, special = 3, add = 2 },
  softsign = { special = 1, add = 1, divide = 1 }, exp = { special = 1 }, log = { special = 1 }, sqrt = { special = 1 },
  reciprocal = { divide = 1 }, abs = { special = 1 }, neg = {}, floor = { special = 1 }, ceil = { special = 1 },
  round = { special = 1 }, sign = { special = 1 },
}
local two = { add = true, sub = true, mul = true, div = true, max = true, min = true }
plain_nest.elementwise(op, op.count, two[op.apply] and { "x", "z" } or { "x" }, operations[op.apply])
