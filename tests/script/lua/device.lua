-- What a space file sees of the device that test_language.c describes.
param.p = factors(8, 2)
operator.matmul { N = 8, M = 8, K = 8 }
kernel { template = 't.comp', groups = function() return { 1 } end }

assert(device.type == 'cpu' and device.is_cpu and device.f16)
assert(device.invocations == 256 and device.shared_bytes == 4096)
assert(device.group_size[1] == 8 and #device.group_count == 3)
assert(device.buffer_bytes == math.maxinteger and device.loop_trips == 65535)
assert(device.i8 and device.buffers == 5)
assert(device.accumulators == 0 and device.statements == 0 and device.subgroup_size == 4)
assert(device.matrix_api == 'nv' and #device.matrix == 2)
local s = device.matrix[2]
assert(s.m == 16 and s.n == 8 and s.k == 4 and s.a == 'f16' and s.c == 'f32')
assert(device.matrix2.flexible and device.matrix2.blocks and not device.matrix2.workgroup and #device.flexible == 2)
assert(device.flexible[1].invocations == 0 and device.flexible[2].invocations == 64 and device.flexible[2].m == 32)
assert(device.matrix_size == 512 and device.matrix_invocations == 64 and device.matrix_shared == 7)
assert(device.storage_images == 8 and device.sampled_images == 9 and device.samplers == 10)
