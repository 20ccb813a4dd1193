-- The file that choices_are_overridden_and_the_operator_is_given_back uses, with other standards.
local pad = size('pad', 2, 0)
assert(pad == 0)
local op = operator.conv2d { batch = 1, in_channels = 3, height = 9, width = 7,
  out_channels = 4, kernel_h = 3, kernel_w = 3, padding = pad, bias = 'add',
  type = choice('type', { 'f32', 'f16', 'i8' }), layout = choice('order', { 'nchw', 'nhwc' }, 'nhwc') }
assert(op.type == 'f16' and op.layout == 'nhwc' and op.out_height == 7 and op.stride == 1)
assert(op.bindings.bias == 2 and op.bindings.Y == 3 and op.bindings.scratch == 4)
assert(choice('walk', { 'rows', 'columns' }) == 'columns' and op.scale == 1)
param.p = factors(8, 2)
kernel { template = 't.comp', groups = function() return { 1 } end }
