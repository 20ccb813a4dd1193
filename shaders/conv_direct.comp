#version 450
// Convolution: ${f.tile} x ${y.tile} x ${x.tile} outputs a workgroup, ${f.count} x ${y.count} x ${x.count} an invocation${sliding and ", " .. y.steps .. " times downwards" or ""}.
% -- One kernel for every schedule; lua/direct.lua derives its sizes and explains the words.
% local sum, times, over, modulo, below = glsl.sum, glsl.times, glsl.over, glsl.modulo, glsl.below
% local planar = op.layout == "nchw"
% local stride, dilation = op.stride, op.dilation
% local v, width = input.vector, weights.chunk -- a sum is a vector of as many filters
% local axes = { f = f, y = y, x = x }
% local function number(n) return glsl.vector(glsl.sums(op), n) end
% local function stored(n) return glsl.vector(op.type, n) end
% local function read(text, n) return glsl.converted(text, op.type, glsl.sums(op), n) end
%
% -- Elements from one neighbour to the next, in memory and in shared tiles.
% local function strides_of(channels, height, width)
%   if planar then return { image = channels * height * width, c = height * width, y = width, x = 1 } end
%   return { image = channels * height * width, y = width * channels, x = channels, c = 1 }
% end
% local input_stride = strides_of(op.in_channels, op.height, op.width)
% local weights_stride = strides_of(op.in_channels // op.groups, op.kernel_h, op.kernel_w)
% local output_stride = strides_of(op.out_channels, op.out_height, op.out_width)
% local tap_stride = strides_of(k.c.tile, k.y.tile, k.x.tile)
% local line = input.pitch * v
% local tile_stride = planar and { c = input.rows * line, y = line, x = 1 } or { y = input.columns * line, x = line, c = 1 }
%
% -- Vectors of n elements that lie before `text` neighbours, `stride` elements apart.
% local function scaled(text, stride, n)
%   return stride % n == 0 and times(text, stride // n) or over(times(text, stride), n)
% end
%
% -- The sum of such places, given as text, stride, text, stride, ...
% local function weighted(list, n)
%   local terms = {}
%   for i = 1, #list, 2 do terms[#terms + 1] = scaled(list[i], list[i + 1], n) end
%   return sum(table.unpack(terms))
% end
%
% local finish = epilogue.of(op, { sums = glsl.sums(op), n = vector_out, along_bias = not planar })
% for _, name in ipairs(glsl.extensions(op.type)) do
#extension ${name} : require
% end
% if hint then
#extension GL_EXT_control_flow_attributes : require
% end
${glsl.decoder(op.type)}
% local group_x, group_y, group_z = axes[lanes[1]].lanes, axes[lanes[2]].lanes, axes[lanes[3]].lanes
layout(local_size_x = ${group_x}, local_size_y = ${group_y}, local_size_z = ${group_z}) in;

% local at, output = op.bindings, glsl.vector(glsl.output(op), vector_out)
layout(std430, set = 0, binding = ${at.X}) restrict readonly buffer Inputs { ${stored(v)} inputs[]; };
layout(std430, set = 0, binding = ${at.W}) restrict readonly buffer Weights { ${stored(weights.vector)} weights[]; };
layout(std430, set = 0, binding = ${at.Y}) restrict writeonly buffer Outputs { ${output} outputs[]; };
${finish.text}
% if input.staged then
shared ${stored(v)} tile_inputs[${input.chunks}]; // ${input.channels} x ${input.rows} x ${input.columns} elements
% end
% if weights.staged then
shared ${stored(width)} tile_weights[${weights.chunks}]; // ${weights.taps} taps of ${f.tile} filters
% end
%
% -- How far output register i of an axis is from the first one of its invocation.
% local function offset(axis, i) return i // axis.own * axis.lanes * axis.own + i % axis.own end
%
% -- How far its input is: for element t of the window in rows and columns, in channels of a depthwise convolution.
% local function row_of(i, t) return offset(y, i) * stride + t * dilation end
% local function column_of(i, t) return offset(x, i) * stride + t * dilation + input.shift end
% local function channel_of(i) return offset(f, i) // per_channel end
%
% -- Shared tiles ------------------------------------------------------------------------------------------------------
%
% -- The first element of the tile: nothing where there is but one.
% local function tile_start(axis) return k[axis].tiles > 1 and axis .. "_tile" or "0" end
%
% -- Calls bring(text) for the vectors of a tile that this invocation brings, numbered in the order of memory.
% local function each_round(x, bring)
%   if x.looped then
        for (uint i = thread; i < ${x.vectors}; i += ${threads}) {
%     bring("i")
        }
%     return
%   end
%   for r = 0, x.rounds - 1 do
%     local vector, is_full = sum("thread", r * threads), (r + 1) * threads <= x.vectors
        ${is_full and "" or "if (" .. vector .. " < " .. x.vectors .. ") "}{
%     bring(vector)
        }
%   end
% end
%
% local function bring_input(vector)
%   local line, place = over(vector, input.length), times(modulo(vector, input.length), v)
            const uint line = ${line}, place = ${place};
%   local channel = planar and over("line", input.rows) or "place"
%   local row = planar and modulo("line", input.rows) or over("line", input.columns)
%   local column = planar and "place" or modulo("line", input.columns)
%   channel = sum("first_channel", not depthwise and tile_start("c") or "0", channel)
%   if depthwise and not f.exact then channel = below(channel, op.in_channels + 1 - (planar and 1 or v)) end
            const uint row = ${sum("first_row", times(tile_start("y"), dilation), row)};
            const uint column = ${sum("first_column", times(tile_start("x"), dilation), column)};
%   local row, column, inside = "row", "column", {}
%   if input.leaves_y then row, inside[1] = below("row", op.height), "row < " .. op.height end
%   if input.leaves_x then
%     column = below("column", op.width + 1 - (planar and v or 1))
%     inside[#inside + 1] = "column < " .. op.width
%   end
%   local at = weighted({ channel, input_stride.c, row, input_stride.y, column, input_stride.x }, v)
            const ${stored(v)} elements = inputs[${sum("image", at)}];
%   local value = inside[1] and glsl.guarded(table.concat(inside, " && "), "elements", op.type, v) or "elements"
%   local to = input.pitch == input.length and vector or sum(times("line", input.pitch), over("place", v))
            tile_inputs[${to}] = ${value};
% end
%
% -- Where an element of the tile's weights of one filter lies among all of that filter, both numbered in the order of
% -- memory: the same number where the tile has all but the outermost dimension whole.
% local function tap_in_memory(tap)
%   if k.x.tiles == 1 and (planar and k.y or k.c).tiles == 1 then return tap end
%   local in_tile, in_memory = tap_stride, weights_stride
%   local terms = {}
%   for _, axis in ipairs { "c", "y", "x" } do
%     local index = modulo(over(tap, in_tile[axis]), k[axis].tile)
%     terms[#terms + 1] = times(index, in_memory[axis])
%   end
%   return sum(table.unpack(terms))
% end
%
% local function bring_weights(vector)
%   local of_filter = weights.taps // weights.vector
            const uint filters = ${over(vector, of_filter)}, tap = ${times(modulo(vector, of_filter), weights.vector)};
%   local index = sum("first_filter", "filters")
%   if not f.exact then index = below(index, f.lines) end
%   local start = {}
%   for n, axis in ipairs { "c", "y", "x" } do start[n] = times(tile_start(axis), weights_stride[axis]) end
%   local at = sum(times(sum("group_filter", index), weights_stride.image), sum(table.unpack(start)), tap_in_memory("tap"))
            const ${stored(weights.vector)} elements = weights[${over(at, weights.vector)}];
%   for j = 0, weights.vector - 1 do
%     local place = sum(times("tap", weights.pitch), j * weights.pitch, over("filters", width))
%     local component = width > 1 and "[" .. modulo("filters", width) .. "]" or ""
            tile_weights[${place}]${component} = ${glsl.components("elements", weights.vector, j, 1)};
%   end
% end
%
% -- Addresses --------------------------------------------------------------------------------------------------------
%
% -- Where the sum stands along an axis: the variables of the loops that are open, of the inner ones only within tiles.
% local function position(axis, within_tile)
%   local step = "0"
%   for _, loop in ipairs(inner) do
%     if loop.axis == axis then step = axis .. "_step" end
%   end
%   return within_tile and step or sum(tile_start(axis), step)
% end
%
% -- Whether all that is read from the buffer is there, so that it lies at constant distances from inputs_at.
% local is_plain = not input.leaves_y and not input.leaves_x and (not depthwise or f.exact)
%
% local channel_lane = depthwise and times("lane_f", f.registers // per_channel) or "0"
%
% -- The address of a row, or of columns, that a block reads: clamped, and whether it is inside the image.
% local function line(name, length, n, each, down)
%   local at = sum("input_" .. name, times(position(name), dilation), down or "0", n)
        const uint at_${name}_${n} = ${scaled(below(at, length + 1 - each), input_stride[name], v)};
%   if input["leaves_" .. name] then
        const bool inside_${name}_${n} = ${at} < ${length};
%   end
% end
%
% -- What outputs 0 .. count - 1 of an axis read, each once, in vectors of `each`.
% local function places(axis, taps, place, each)
%   local list, seen = {}, {}
%   for i = 0, axis.count - 1 do
%     for t = 0, taps - 1 do
%       local n = place(i, t) // each * each
%       if not seen[n] then list[#list + 1], seen[n] = n, true end
%     end
%   end
%   return list
% end
% local function lines_of_block(axis, name, length, place, each)
%   for _, n in ipairs(places(axis, block[name], place, each)) do line(name, length, n, each) end
% end
%
% -- Registers ---------------------------------------------------------------------------------------------------------
%
% local loaded
% local kept = {} -- rows that stay in registers from one iteration to the next
% local function constant(r) return kept[r] and "" or "const " end
%
% -- The element of the input for channel ch, row r, column q: its vector, loaded when a block first asks, and its place.
% local function input_register(ch, r, q)
%   local place = (planar and q or ch) % v
%   if planar then q = q - place else ch = ch - place end
%   local name = "in_" .. ch .. "_" .. r .. "_" .. q
%   if loaded[name] then return name, place end
%   loaded[name] = true
%   if input.staged then
%     local at = sum("inputs_at", (ch * tile_stride.c + r * tile_stride.y + q * tile_stride.x) // v)
            ${constant(r)}${number(v)} ${name} = ${read("tile_inputs[" .. at .. "]", v)};
%   elseif is_plain then
%     local at = sum("inputs_at", (ch * input_stride.c + r * input_stride.y + q * input_stride.x) // v)
            ${constant(r)}${number(v)} ${name} = ${read("inputs[" .. at .. "]", v)};
%   else
%     local channel = depthwise and not f.exact and "channel_" .. ch or ch * input_stride.c // v
%     local at, inside = sum("inputs_at", "at_y_" .. r, "at_x_" .. q, channel), {}
%     if input.leaves_y then inside[1] = "inside_y_" .. r end
%     if input.leaves_x then inside[#inside + 1] = "inside_x_" .. q end
%     local value = read("inputs[" .. at .. "]", v)
%     if inside[1] then value = glsl.guarded(table.concat(inside, " && "), value, glsl.sums(op), v) end
            ${constant(r)}${number(v)} ${name} = ${value};
%   end
%   return name, place
% end
%
% -- Text of the input that the filters i .. i + width - 1 are multiplied with: one number, or one each.
% local function input_text(i, ch, r, q)
%   if not depthwise then
%     local name, place = input_register(ch, r, q)
%     return glsl.components(name, v, place, 1)
%   end
%   local texts = {}
%   for n = i, i + width - 1 do
%     local name, place = input_register(channel_of(n), r, q)
%     texts[#texts + 1] = glsl.components(name, v, place, 1)
%   end
%   return width == 1 and texts[1] or number(width) .. "(" .. table.concat(texts, ", ") .. ")"
% end
%
% -- Text of the weights of the filters i .. i + width - 1 for element ch, t, u of the sum.
% local function weights_text(i, ch, t, u)
%   local n = weights.staged and 1 or weights.vector
%   local place = ch % n
%   ch = ch - place
%   local name = "w_" .. i .. "_" .. ch .. "_" .. t .. "_" .. u
%   if not loaded[name] then
%     loaded[name] = true
%     if weights.staged then
%       local tap = ch * tap_stride.c + t * tap_stride.y + u * tap_stride.x
%       local at = sum("weights_at", tap * weights.pitch + offset(f, i) // width)
            const ${number(width)} ${name} = ${read("tile_weights[" .. at .. "]", width)};
%     else
%       local tap = (ch * weights_stride.c + t * weights_stride.y + u * weights_stride.x) // n
%       local filter = f.exact and offset(f, i) * weights_stride.image // n or "filter_" .. i
            const ${number(n)} ${name} = ${read("weights[" .. sum("weights_at", tap, filter) .. "]", n)};
%     end
%   end
%   return weights.staged and name or glsl.components(name, n, place, 1)
% end
%
% -- Where a block finds its registers, `down` rows of outputs below the first.
% local function begin_inputs(down)
%   local within = input.staged
%   local strides = within and tile_stride or input_stride
%   local terms = {}
%   local function add(text, stride) terms[#terms + 1] = scaled(text, stride, v) end
%   if not depthwise then add(position("c", within), strides.c) end
%   if within or is_plain then
%     add(position("y", within), dilation * strides.y)
%     add(position("x", within), dilation * strides.x)
%     add(down, stride * strides.y)
%   end
            const uint inputs_at = ${sum("read_inputs", table.unpack(terms))};
% end
% local function begin_weights()
%   local terms = {}
%   for n, axis in ipairs { "c", "y", "x" } do
%     local at = position(axis, weights.staged)
%     if weights.staged then
%       terms[n] = times(at, tap_stride[axis] * weights.pitch)
%     else
%       terms[n] = scaled(at, weights_stride[axis], weights.vector)
%     end
%   end
            const uint weights_at = ${sum("read_weights", table.unpack(terms))};
% end
%
% -- The products of all elements of a block of the sum with all registers, rows from `first` on.
% local function products(first)
%   local at = {}
%   local function product(ch, t, u)
%     for i = 0, f.count - 1, width do
%       for j = first, first + y.count - 1 do
%         for l = 0, x.count - 1 do
%           local weight, value = weights_text(i, ch, t, u), input_text(i, ch, row_of(j, t), column_of(l, u))
            sum_${i}_${j}_${l} += ${weight} * ${value};
%         end
%       end
%     end
%   end
%   local function nest(level)
%     local axis = order[level]
%     for n = 0, block[axis] - 1 do
%       at[axis] = n
%       if level < #order then nest(level + 1) else product(at.c, at.y, at.x) end
%     end
%   end
%   nest(1)
% end
%
% local function zero_sums(first)
%   for i = 0, f.count - 1, width do
%     for j = first, first + y.count - 1 do
%       for l = 0, x.count - 1 do
    ${number(width)} sum_${i}_${j}_${l} = ${number(width)}(0);
%       end
%     end
%   end
% end
%
% -- Results -----------------------------------------------------------------------------------------------------------
%
% -- The sums of vector_out neighbours in memory that begin with output i, j, l.
% local function result(i, j, l)
%   local function element(n, m, count)
%     return glsl.components("sum_" .. n // width * width .. "_" .. j .. "_" .. m, width, n % width, count)
%   end
%   if not planar and vector_out <= width then return element(i, l, vector_out) end
%   local texts = {}
%   for n = 0, vector_out - 1, planar and 1 or width do
%     texts[#texts + 1] = planar and element(i, l + n, 1) or element(i + n, l, width)
%   end
%   return #texts == 1 and texts[1] or number(vector_out) .. "(" .. table.concat(texts, ", ") .. ")"
% end
% local function only_below(axis, text, n) return axis.exact and "" or "if (" .. text .. " < " .. n .. ") " end
%
% local function begin_store(down)
    const uint row = ${sum(times("tile_y", y.tile), times("lane_y", y.own), down)};
    const uint column = ${sum(times("tile_x", x.tile), times("lane_x", x.own))};
    const uint output_filter = ${sum("group_filter", "own_filter")};
%   local strides = output_stride
%   local corner = { "batch_item", strides.image, "output_filter", strides.c, "row", strides.y, "column", strides.x }
    const uint corner = ${weighted(corner, vector_out)};
% end
% local function store(first)
%   local strides = output_stride
%   for i = 0, f.count - 1, planar and 1 or vector_out do
    ${only_below(f, sum("own_filter", offset(f, i)), f.lines)}{
%     for j = first, first + y.count - 1 do
    ${only_below(y, sum("row", offset(y, j)), op.out_height)}{
%       for l = 0, x.count - 1, planar and vector_out or 1 do
%         local at = (offset(f, i) * strides.c + offset(y, j) * strides.y + offset(x, l) * strides.x) // vector_out
%         local bias_at = sum("output_filter", offset(f, i))
%         if not planar then bias_at = over(bias_at, vector_out) end
%         local value = finish.call(result(i, j, l), bias_at, sum("corner", at))
        ${only_below(x, sum("column", offset(x, l)), op.out_width)}outputs[${sum("corner", at)}] = ${value};
%       end
    }
%     end
    }
%   end
% end
%
% -- Sliding -----------------------------------------------------------------------------------------------------------
%
% -- Calls use(name, r) for the vectors of row r of the input, which are loaded where they are not.
% local function each_vector(r, use)
%   for _, ch in ipairs(places(f, 1, channel_of, planar and 1 or v)) do
%     for _, q in ipairs(places(x, op.kernel_w, column_of, planar and v or 1)) do
%       local name = input_register(ch, r, q)
%       if use then use(name, input_register(ch, r + sliding.shift, q)) end
%     end
%   end
% end
% local function load_rows(rows, down, below)
%   for _, r in ipairs(rows) do
%     if not input.staged and not is_plain then line("y", op.height, r + below, 1, times(down, stride)) end
%     each_vector(r + below)
%   end
% end
%
% -- What is read once: the weights, and the rows that the first group of outputs has in common with none before it.
% local function before_sliding()
%   loaded = {}
%   begin_inputs("0")
%   begin_weights()
%   for i = 0, f.count - 1, width do
%     for t = 0, op.kernel_h - 1 do
%       for u = 0, op.kernel_w - 1 do weights_text(i, 0, t, u) end
%     end
%   end
%   for _, r in ipairs(sliding.kept) do kept[r] = sliding.copies == 1 or nil end
%   load_rows(sliding.kept, "0", 0)
% end
% local function move_down()
%   for _, r in ipairs(sliding.kept) do
%     each_vector(r, function(to, from)
        ${to} = ${from};
%     end)
%   end
% end
% local function slide_down()
%   local down = sliding.copies == 1 and "down_step" or "0"
%   if sliding.copies == 1 then begin_inputs(down) end
%   begin_store(down)
%   for n = 0, sliding.copies - 1 do
%     load_rows(sliding.first, down, n * sliding.shift)
%     zero_sums(n * y.registers)
%     products(n * y.registers)
%     store(n * y.registers)
%   end
%   if sliding.copies == 1 then move_down() end
% end

void main()
{
% local ids = { "gl_WorkGroupID.x", "gl_WorkGroupID.y", "gl_WorkGroupID.z" }
% for n = 1, 3 do
%   local axis = walk[n]
%   local id = ids[n]
%   if n == 3 and op.batch > 1 then id = modulo(id, tiles[axis]) end
    const uint tile_${axis} = ${tiles[axis] == 1 and "0" or id};
%   local lane = "gl_LocalInvocationID." .. string.sub("xyz", n, n)
    const uint lane_${lanes[n]} = ${axes[lanes[n]].lanes == 1 and "0" or lane};
% end
    const uint batch_item = ${op.batch == 1 and "0" or over("gl_WorkGroupID.z", tiles[walk[3]])};
% if op.groups > 1 and not depthwise then
    const uint group = ${over("tile_f", f.tiles)};
    const uint first_filter = ${times(modulo("tile_f", f.tiles), f.tile)};
    const uint group_filter = ${times("group", f.lines)}, first_channel = ${times("group", k.c.length)};
% else
    const uint first_filter = ${times("tile_f", f.tile)};
    const uint group_filter = 0, first_channel = ${depthwise and over("first_filter", per_channel) or "0"};
% end
    // The input of the first output, before the padding: negative numbers wrap, and are not below any size.
    const uint first_row = ${times("tile_y", y.tile * stride)} - ${op.padding};
    const uint first_column = ${times("tile_x", x.tile * stride)} - ${op.padding + input.shift};
    const uint image = ${scaled("batch_item", input_stride.image, v)};
    const uint own_filter = ${sum("first_filter", times("lane_f", f.registers))};
% if input.staged or weights.staged then
    const uint thread = gl_LocalInvocationIndex;
% end
% if input.staged then
%   local of_y, of_x = y.own * stride * tile_stride.y, x.own * stride * tile_stride.x
    const uint read_inputs = ${weighted({ channel_lane, tile_stride.c, "lane_y", of_y, "lane_x", of_x }, v)};
% else
    const uint input_y = ${sum("first_row", times("lane_y", y.own * stride))};
    const uint input_x = ${sum("first_column", times("lane_x", x.registers * stride))};
    const uint channel = ${sum("first_channel", channel_lane)};
%   local places = is_plain and weighted({ "input_y", input_stride.y, "input_x", input_stride.x }, v) or "0"
%   local channel = depthwise and not f.exact and "0" or scaled("channel", input_stride.c, v)
    const uint read_inputs = ${sum("image", channel, places)};
%   if depthwise and not f.exact then
%     local each = planar and 1 or v
%     local seen = {}
%     for i = 0, f.count - 1 do
%       local n = channel_of(i) // each * each
%       if not seen[n] then
%         seen[n] = true
    const uint channel_${n} = ${scaled(below(sum("channel", n), op.in_channels + 1 - each), input_stride.c, v)};
%       end
%     end
%   end
% end
% if weights.staged then
    const uint read_weights = ${times("lane_f", f.registers // width)};
% elseif f.exact then
    const uint read_weights = ${scaled(sum("group_filter", "own_filter"), weights_stride.image, weights.vector)};
% else
    const uint read_weights = ${scaled("group_filter", weights_stride.image, weights.vector)};
%   for i = 0, f.count - 1 do
%     local filter = below(sum("own_filter", offset(f, i)), f.lines)
    const uint filter_${i} = ${scaled(filter, weights_stride.image, weights.vector)};
%   end
% end

% if not sliding then zero_sums(0) end

% -- Which loops there are around what depends on an axis: 0 for none.
% local loops = {}
% for _, loop in ipairs(outer) do loops[#loops + 1] = loop end
% for _, loop in ipairs(inner) do loops[#loops + 1] = loop end
% local function innermost(axis)
%   local level = 0
%   for n, loop in ipairs(loops) do
%     if loop.axis == axis then level = n end
%   end
%   return level
% end
% for level = 0, #loops do
%   local loop = loops[level]
%   if loop then
%     local variable = loop.axis .. (level <= #outer and "_tile" or "_step")
    ${loop.hint and "[[unroll]] " or ""}for (uint ${variable} = 0; ${variable} < ${loop.length}; ${variable} += ${loop.step}) {
%   end
%   if level == #outer and (input.staged or weights.staged) then
%     -- The tile of wider vectors comes first, so that there is no gap between the two.
%     local function fill_weights() if weights.staged then each_round(weights, bring_weights) end end
%     if width > v then fill_weights() end
%     if input.staged then each_round(input, bring_input) end
%     if width <= v then fill_weights() end
        barrier();
%   end
%   if not input.staged and not is_plain then
%     if level == innermost("y") and not sliding then lines_of_block(y, "y", op.height, row_of, 1) end
%     if level == innermost("x") then lines_of_block(x, "x", op.width, column_of, planar and v or 1) end
%   end
%   if sliding and level == #outer then before_sliding() end
% end
% if sliding then
%   slide_down()
% else
        {
%   loaded = {}
%   begin_inputs("0")
%   begin_weights()
%   products(0)
        }
% end
% for level = #loops, 1, -1 do
%   if level == #outer and (input.staged or weights.staged) then
        barrier();
%   end
    }
% end

% if not sliding then
%   begin_store("0")
%   store(0)
% end
}
