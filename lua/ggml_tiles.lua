-- The tuple of ggml's tiled products (mul_mm.comp, mul_mmq.comp): BLOCK_SIZE invocations compute BM x BN of D, each subgroup WM x WN of
-- that, in WMITER steps, each invocation TM x TN a step; with matrix units a subgroup holds fragments of TM x TN x TK.
--
--     local t = tiles.declare { M =, N =, TM =, TN =, shapes =, block_k =, shared_bytes =, suffix =, denominators =, depth =, ... }
--     t.constrain()                 subgroups and the rules of the tuple; behind the parameters that the shader has besides
--     t.resources(groups)           what kernels take; groups(c) counts workgroups
--     t.constants(c)                the specialization constants of the tuple, { id, name, value }
--     t.shipped(sums, complete)     what ggml has for large, medium and small matrices: sums of { TM, TN }; complete(c) sets the rest
--     t.export_ggml(shipped, about, refused) a change of ggml's host; refused(c) says why there is none
--
-- `shapes` are the device's matrix units and `block_k` how far a tile goes along K, shared_bytes(c, subgroups) what a workgroup takes.
-- `suffix` and `depth` are those of the host's tuples (_mmq and 32 for blocks of weights), `denominators` the suffix of what counts
-- their workgroups (nil: other kernels are counted by it, too), `shipped_steps` their WMITER (2), `test` the host's test (MUL_MAT).
local subgroups, foreign, ggml = include "subgroups.lua", include "foreign.lua", include "ggml.lua"

local tiles = {}

local function ceil_div(a, b) return (a + b - 1) // b end

-- The sizes along one side of the fragments, each once.
local function sides(shapes, name)
  local all, seen = {}, {}
  for _, shape in ipairs(shapes) do
    if not seen[shape[name]] then table.insert(all, shape[name]) end
    seen[shape[name]] = true
  end
  table.sort(all)
  return all
end

function tiles.declare(s)
  local t, warp = {}, subgroups.size
  local shapes = s.shapes
  t.warp = warp

  param.BLOCK_SIZE = discrete(shapes and { 8, 16, 32, 64, 128, 256, 512 } or { 8, 16, 32, 64, 128, 256 })
  param.BM         = discrete { 16, 32, 64, 128 }
  param.BN         = discrete { 16, 32, 64, 128 }
  param.WM         = discrete(shapes and { 8, 16, 32, 64, 128 } or { 4, 8, 16, 32, 64, 128 })
  param.WN         = discrete { 8, 16, 32, 64, 128 }
  if not shapes then param.WMITER = discrete { 1, 2, 4 } end
  param.TM         = discrete(shapes and sides(shapes, "m") or s.TM)
  param.TN         = discrete(shapes and sides(shapes, "n") or s.TN)
  if shapes then param.TK = discrete(sides(shapes, "k")) end

  local shipped_steps = s.shipped_steps or 2
  local function steps(c) return shapes and shipped_steps or c.WMITER end     -- with matrix units nothing depends on it
  local function tile_k(c) return shapes and c.TK or 1 end
  local function shared_bytes(c) return s.shared_bytes(c, c.BLOCK_SIZE // warp(c)) end

  function t.constrain()
    local most_sums = device.is_cpu and 64 or 256                             -- more sums: minutes in a compiler, or wrong
    t.subgroup = subgroups.choose(function(c) return c.BLOCK_SIZE end)
    constraint("subgroups tile a block", function(c)
      return c.BM % c.WM == 0 and c.BN % c.WN == 0 and c.BM // c.WM * (c.BN // c.WN) * warp(c) == c.BLOCK_SIZE
    end)
    if shapes then
      constraint("the device has the fragment", function(c)
        for _, shape in ipairs(shapes) do
          if shape.m == c.TM and shape.n == c.TN and shape.k == c.TK then return true end
        end
        return false
      end)
      constraint("fragments tile a subgroup's part", function(c)
        return c.WM % c.TM == 0 and c.WN % c.TN == 0 and s.block_k % c.TK == 0
      end)
      constraint("a subgroup stores whole columns of a fragment", function(c)
        return warp(c) % c.TM == 0 and c.TN % (warp(c) // c.TM) == 0
      end)
    else
      constraint("invocations tile a subgroup's part", function(c)
        local each = warp(c) * c.TM * c.TN * steps(c)
        local n = c.WM * c.WN // each
        return n >= 1 and n * each == c.WM * c.WN and c.WM % steps(c) == 0 and c.WM // steps(c) % c.TM == 0
           and c.WN % n == 0 and c.WN // n % c.TN == 0
      end)
    end
    constraint("sums of an invocation", function(c) -- where there is room at all
      return shared_bytes(c) > device.shared_bytes or c.WM * c.WN // warp(c) <= most_sums
    end)
  end

  function t.resources(groups)
    resources(function(c) return {
      invocations  = { c.BLOCK_SIZE },
      shared_bytes = shared_bytes(c),
      accumulators = c.WM * c.WN // warp(c),
      groups       = groups(c),
    } end)
  end

  function t.blocks(c) return ceil_div(s.M, c.BM), ceil_div(s.N, c.BN) end

  function t.constants(c)
    return { { 0, "BLOCK_SIZE", c.BLOCK_SIZE }, { 1, "BM", c.BM }, { 2, "BN", c.BN }, { 4, "WM", c.WM }, { 5, "WN", c.WN },
      { 6, "WMITER", steps(c) }, { 7, "TM", c.TM }, { 8, "TN", c.TN }, { 9, "TK", tile_k(c) }, { 10, "WARP", warp(c) } }
  end

  local w = device.subgroup_size
  -- Returns large, medium and small; with matrix units also the large one for AMD and for Intel.
  function t.shipped(sums, complete)
    local function tuple(block, bm, bn, wm, wn, sums)
      local c = { BLOCK_SIZE = block, BM = bm, BN = bn, WM = wm, WN = wn, WMITER = not shapes and shipped_steps or nil, TM = sums[1], TN = sums[2] }
      if shapes then c.TM, c.TN, c.TK = shapes[1].m, shapes[1].n, shapes[1].k end
      c.subgroup_size = t.subgroup and w or nil
      complete(c)
      return c
    end
    return {
      large  = tuple(128, 128, 128, 2 * w, 64, sums.large),
      medium = tuple(128, 64, 64, w, 32, sums.medium),
      small  = tuple(math.max(w, 32), 32, 32, w == 8 and 8 or 32, 32, sums.small),
      amd    = shapes and tuple(256, 128, 128, w, 64, sums.medium) or nil,
      intel  = shapes and tuple(512, 128, 128, w, 32, sums.medium) or nil,
    }
  end

  -- In the order of the host's tuples.
  local function values(c)
    return { c.BLOCK_SIZE, c.BM, c.BN, s.depth, c.WM, c.WN, steps(c), c.TM, c.TN, tile_k(c), warp(c) }
  end

  function t.export_ggml(shipped, about, refused)
    -- Returns the tuple of a shape: one that does not fit the shared memory is not used.
    local function size_of(m, n)
      local size = (m <= 32 or n <= 32) and "small" or (m <= 64 or n <= 64) and "medium" or "large"
      return size == "large" and shared_bytes(shipped.large) > device.shared_bytes and "medium" or size
    end
    local function sizes_of(found) -- "large" and so on: what the shapes take, each once
      local all, seen = {}, {}
      for _, shape in ipairs(found.shapes) do
        local size = size_of(shape.M or s.M, shape.N or s.N)
        if not seen[size] then table.insert(all, size) end
        seen[size] = true
      end
      return all
    end
    local function print(c, found)
      local changes = {}
      for _, size in ipairs(sizes_of(found)) do
        table.insert(changes, { size:sub(1, 1) .. "_warptile" .. s.suffix, values(shipped[size]), values(c) })
      end
      return foreign.diff("ggml-vulkan.cpp", about(c), changes, found)
    end
    local function settings(c, found)
      local why = refused(c)
      if why then return nil, why end
      local all = {}
      for _, size in ipairs(sizes_of(found)) do
        local letter, counted = size:sub(1, 1), shipped[size]
        local function tuple(of) return "{ " .. table.concat(values(of), ", ") .. " }" end
        if tuple(c) ~= tuple(counted) then
          table.insert(all, { place = ggml.tuples, name = letter .. "_warptile" .. s.suffix, value = tuple(c) })
        end
        if c.BM ~= counted.BM or c.BN ~= counted.BN then
          if not s.denominators then
            return nil, ("ggml counts these workgroups by the blocks of mul_mm, and the trial has BM=%d BN=%d"):format(c.BM, c.BN)
          end
          table.insert(all, { place = ggml.denominators, name = letter .. s.denominators, value = ("{ %d, %d, 1 }"):format(c.BM, c.BN) })
        end
      end
      if #all == 0 then return nil, "it is what ships: there is nothing to change" end
      return all
    end
    local op = s.test or "MUL_MAT"
    export("ggml", print, ggml.host(settings, "build ggml's tests with its Vulkan backend; `test-backend-ops test -o " .. op
      .. "` shows OK in each line of " .. op .. ", `test-backend-ops perf -o " .. op .. "` the speeds before and after", shapes ~= nil))
  end

  return t
end

return tiles
