-- blur.lua: the rows of an image, blurred by the shader of our program
local width, height = size("width", 1920), size("height", 1080)

operator.define {
  name      = "blur",
  bytes     = 8 * width * height, -- read once, written once
  inputs    = { { "Image", height, width, fill = { 0, 1 } } },
  output    = { "Blurred", height, width },
  reference = { template = "blur_reference.comp", groups = { (width + 15) // 16, height } },
}

param.block_x = discrete { 1, 2, 4, 8, 16, 32, 64 } -- invocations of a workgroup
param.block_y = discrete { 1, 2, 4, 8, 16, 32, 64 }
param.run     = discrete { 1, 2, 4, 8 } -- pixels of an invocation

resources(function(c) return { invocations = { c.block_x, c.block_y }, loop_trips = 33 + c.run } end)

local function blocks(pixels, each) return (pixels + each - 1) // each end

kernel {
  shader = "blur.comp",
  spec   = function(c) return { [0] = c.block_x, [1] = c.block_y, [2] = c.run } end,
  push   = function(c) return { width, height } end,
  groups = function(c) return { blocks(width, c.block_x * c.run), blocks(height, c.block_y) } end,
}

baseline { shipped = { block_x = 8, block_y = 8, run = 1 } } -- tile.h today

local function line(x, y, run) return "static const unsigned blur_constants[] = {" .. x .. ", " .. y .. ", " .. run .. "};\n" end

export("patch", function(c, found)
  return found.told .. "\n--- a/tile.h\n+++ b/tile.h\n@@ -1 +1 @@\n-" .. line(8, 8, 1) .. "+" .. line(c.block_x, c.block_y, c.run)
end)
