-- Common parts of convolutions by their definition whose rows and columns have sizes of their own: those sizes, and
-- the epilogue of a sum before it is stored, chosen as in epilogue.lua.
--
--     local stride = axes.sizes("stride", { 1, 2 })                --set stride_h, stride_w
--     local finish = axes.epilogue({ N, CO, height, width }, type) the tensors bias and residual, after X and W
--     finish(S)                                                    output: S with what was chosen

local axes = {}

function axes.sizes(name, values, least)
  return { size(name .. "_h", values[1], least), size(name .. "_w", values[2], least) }
end

function axes.epilogue(all, type)
  local has_bias, has_residual = choice("bias", { "none", "add" }) == "add", choice("residual", { "none", "add" }) == "add"
  local activation = choice("activation", { "none", "relu", "leaky", "clamp" })
  local slope, low, high = number("slope", 0.01), number("low", 0), number("high", 6)
  local bias, residual = has_bias and tensor("bias", { all[2] }, type), has_residual and tensor("residual", all, type)
  return function(S)
    output(compute("Y", all, function(n, f, y, x)
      local v = S(n, f, y, x)
      if has_bias then v = v + bias(f) end
      if has_residual then v = v + residual(n, f, y, x) end
      if activation == "relu" then v = max(v, 0.0) end
      if activation == "leaky" then v = max(v, 0.0) + slope * min(v, 0.0) end
      if activation == "clamp" then v = max(low, min(v, high)) end
      return type == "f16" and cast(v, "f16") or v
    end))
  end
end

return axes
