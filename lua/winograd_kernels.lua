-- The kernels of a convolution by Winograd's rule, and their loop nest: see winograd_plan.lua.
--
--     winograd_kernels.declare(op, plan, schedule, shapes)    plan(c), schedule(c) of the product: see gemm_rules.lua, or with
--                                                     shapes units.lua
--     winograd_kernels.transform(op, name, once)      one of the others: of "weights", "input" or "output"
--
-- The weights are transformed once, as programs do when they load them; all else in each run. A transform has one
-- invocation for each element of a matrix, in the order of scratch memory, `transform` in a workgroup.

local arithmetic, glsl, epilogue = include "arithmetic.lua", include "glsl.lua", include "epilogue.lua"
local gemm, gemm_nest, winograd = include "gemm_plan.lua", include "gemm_nest.lua", include "winograd_plan.lua"
local coop, coop_nest = include "coop.lua", include "coop_nest.lua"
local plain, nest_words = include "plain.lua", include "nest_words.lua"
local ceil_div = arithmetic.ceil_div

local winograd_kernels = {}

local most_groups = 65535 -- see plain.lua

-- Invocations of a transform: elements of one of the matrices that it makes, or reads.
local function invocations(s, name)
  if name == "weights" then return s.groups * s.channels * s.all_filters end
  return s.groups * s.tiles * (name == "input" and s.channels or s.all_filters)
end

function winograd_kernels.transform(op, name, once)
  local function groups(c) return plain.groups(ceil_div(invocations(winograd.sizes(op, c.tile), name), c.transform)) end
  kernel {
    template = "winograd_" .. name .. ".comp", once = once, groups = groups,
    values = function(c)
      return {
        s = winograd.sizes(op, c.tile), rule = winograd.rule(c.tile), threads = c.transform, launched = groups(c),
        winograd = winograd, glsl = glsl, epilogue = epilogue,
      }
    end,
  }
end

-- The loop nest of one of them: `from` and `to` are buffers of flat elements, `reads` and `stores` how many of these an
-- invocation has; neighbours in scratch memory are neighbours, in images so many elements apart.
local function transform_nest(d, w, s, size, name, t)
  local count = d.ceil_div(invocations(s, name), size)
  local high = d.ceil_div(count, most_groups)
  local wide = d.ceil_div(count, high)
  local y, x = w.loop(name .. "_y", "block_y", high), w.loop(name .. "_x", "block_x", wide)
  local thread = w.loop(name .. "_thread", "thread_x", size)
  local here = y * (wide * size) + x * size + thread
  local read, store = w.loop(name .. "_read", "unrolled", t.reads), w.loop(name .. "_store", "unrolled", t.stores)
  local tile = d.buffer { name .. "_tile", t.reads, memory = "registers" }
  d.statement {
    "read " .. name, loops = { y, x, thread, read }, stores = tile { read }, reads = { t.from(here, read) },
  }
  d.statement {
    "transform " .. name, loops = { y, x, thread }, updates = tile { 0 }, add = t.add, multiply = t.multiply,
  }
  local e = t.epilogue or { reads = function() return {} end, add = 0, multiply = 0, compare = 0 }
  d.statement {
    "store " .. name, loops = { y, x, thread, store }, stores = t.to(here, store),
    reads = w.joined({ tile { 0 } }, e.reads(here, store)), add = e.add, multiply = e.multiply, compare = e.compare,
  }
end

-- Elements of an image under those of a matrix: m columns apart where tiles follow each other.
local function in_image(image, m, planar)
  return function(here, element) return image { planar and here * m + element or here + element } end
end

local function in_matrices(scratch, first, matrix)
  return function(here, element) return scratch { here + element * matrix + first } end
end

local function costs(d, is_four, name)
  local add_2, multiply_2 = winograd.cost(winograd.rule(2)[name])
  local add_4, multiply_4 = winograd.cost(winograd.rule(4)[name])
  return d.choose(is_four, add_4, add_2), d.choose(is_four, multiply_4, multiply_2)
end

local function epilogue_of(d, w, op, m, planar)
  local elements = {}
  if op.bias == "add" then elements.bias = d.buffer { "bias", op.out_channels, type = glsl.output(op) } { 0 } end
  if op.residual == "add" then
    local size = op.batch * op.out_channels * op.out_height * op.out_width
    elements.residual = d.buffer { "residual", size, type = glsl.output(op) } { 0 }
  end
  local e = w.epilogue(op, elements)
  local reads = e.reads
  e.reads, e.multiply = function() return reads end, e.multiply + 1 -- by the denominator
  return e
end

local function declare_nest(op, schedule, shapes)
  nest(function(c, d)
    local w, m, planar = nest_words.of(d), c.tile, op.layout == "nchw"
    local s, is_four = winograd.sizes(op, m), d.equal(m, 4)
    local scratch, element = d.buffer { "scratch", s.elements }, winograd.element(op)
    local factors = element == "f32" and scratch or d.buffer { "factors", s.weights + s.input, type = element }
    local matrices = s.n * s.n
    local function declare(name, t)
      t.add, t.multiply = costs(d, is_four, name)
      if element == "f16" and name ~= "output" then t.multiply = t.multiply + matrices end -- scaled
      transform_nest(d, w, s, c.transform, name, t)
    end
    local weights = d.buffer { "weights", op.out_channels * s.channels * 9, type = op.type }
    declare("weights", {
      from = function(here, element) return weights { planar and here * 9 + element or here + element * s.channels } end,
      to = in_matrices(factors, 0, invocations(s, "weights")), reads = 9, stores = matrices,
    })
    local image = d.buffer { "inputs", op.batch * op.in_channels * op.height * op.width, type = op.type }
    declare("input", {
      from = in_image(image, m, planar), to = in_matrices(factors, s.of_input, invocations(s, "input")),
      reads = matrices, stores = matrices,
    })
    local add = shapes and coop_nest.add or gemm_nest.add
    add(d, winograd.product(op, m), schedule(c), shapes)
    local outputs = d.buffer {
      "outputs", op.batch * op.out_channels * op.out_height * op.out_width, type = glsl.output(op),
    }
    declare("output", {
      from = in_matrices(scratch, s.of_output, invocations(s, "output")), to = in_image(outputs, m, planar),
      reads = matrices, stores = m * m, epilogue = epilogue_of(d, w, op, m, planar),
    })
  end)
end

function winograd_kernels.declare(op, plan, schedule, shapes)
  winograd_kernels.transform(op, "weights", true)
  winograd_kernels.transform(op, "input")
  local product_kernels = shapes and coop.kernels or gemm.kernels
  product_kernels(plan)
  winograd_kernels.transform(op, "output")
  declare_nest(op, schedule, shapes)
end

return winograd_kernels
