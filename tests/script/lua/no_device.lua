-- What a space file sees where no device is given.
param.p = factors(8, 2)
operator.matmul { N = 8, M = 8, K = 8 }
kernel { template = 't.comp', groups = function() return { 1 } end }

assert(device.type == 'none' and not device.is_cpu)
assert(device.invocations == 128)
assert(device.matrix_api == 'none')
assert(#device.matrix == 0 and #device.flexible == 0 and not device.matrix2.elements)
