// The enumerants of SPIR-V, from its registry. For the files of this folder.
#ifndef TILEWALK_KERNEL_ENUMERANTS_H
#define TILEWALK_KERNEL_ENUMERANTS_H

#include <spirv/unified1/spirv.h>

// CooperativeMatrixKHR, which the headers of Debian 12 are too old to name.
#define SPIRV_CAPABILITY_MATRIX_KHR 6022

// OpTypeCooperativeMatrixKHR and OpCooperativeMatrixStoreKHR, likewise.
#define SPIRV_OP_TYPE_MATRIX_KHR  4456
#define SPIRV_OP_MATRIX_STORE_KHR 4458

// OpAtomicFMinEXT, OpAtomicFMaxEXT and OpAtomicFAddEXT.
#define SPIRV_OP_ATOMIC_MIN 5614
#define SPIRV_OP_ATOMIC_MAX 5615
#define SPIRV_OP_ATOMIC_ADD 6035

// The capabilities of NV_cooperative_matrix2 and NV_tensor_addressing, which are newer still, and
// OpCooperativeMatrixStoreTensorNV.
#define SPIRV_CAPABILITY_MATRIX2_REDUCTIONS  5430
#define SPIRV_CAPABILITY_MATRIX2_CONVERSIONS 5431
#define SPIRV_CAPABILITY_MATRIX2_ELEMENTS    5432
#define SPIRV_CAPABILITY_MATRIX2_TENSORS     5433
#define SPIRV_CAPABILITY_MATRIX2_BLOCKS      5434
#define SPIRV_CAPABILITY_TENSORS             5439
#define SPIRV_OP_MATRIX_STORE_TENSOR         5368

// BFloat16TypeKHR, followed by BFloat16DotProductKHR and BFloat16CooperativeMatrixKHR; Float8EXT,
// followed by Float8CooperativeMatrixEXT.
#define SPIRV_CAPABILITY_BF16 5116
#define SPIRV_CAPABILITY_F8   4212

#endif
