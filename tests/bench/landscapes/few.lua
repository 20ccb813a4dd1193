-- tests/bench/landscapes/few.lua: a product over few parameters, so that a landscape holds a good part of its space
local gemm, subgroups = include "gemm_plan.lua", include "subgroups.lua"

return function(product)
  param.threads   = factors(8, 3)  -- unused, rows, columns in eights
  param.registers = factors(16, 3) -- unused, rows, columns
  param.tile_k    = factors(4, 3)  -- unused, steps, elements a step
  param.stage     = categorical { "none", "shared" }

  local plan = derived(function(c)
    local t, r = c.threads, c.registers
    return gemm.plan(product, {
      rows = { 1, t[2], r[2] }, columns = { 1, 8 * t[3], r[3] }, depth = { c.tile_k[2], c.tile_k[3] },
      stage_a = c.stage, stage_b = c.stage, order = { "k", "n", "m" }, unroll = 128,
    })
  end)
  constraint("only what is shared is staged", function(c) return gemm.staging_pays(plan(c)) end)
  constraint("whole subgroups", function(c) return gemm.threads(plan(c)) >= subgroups.least end)
  constraint("compiles quickly", function(c) return gemm.compiles_quickly(plan(c)) end)
  gemm.kernels(plan)
end
