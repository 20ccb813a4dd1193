// Tensors: elements of a type, and how they lie in memory.
//
// ELEMENTS is the one list of the types that a buffer may have. Names in space files, messages and
// stored problems, sizes, conversions, tolerances and what a device must have for one follow from
// its line of the table.
#ifndef TILEWALK_SPACE_TENSOR_H
#define TILEWALK_SPACE_TENSOR_H

#include <stdbool.h>
#include <stdint.h>

#define TENSOR_MAX_RANK 4

// A device needs these for buffers of a type. Bits of `needs`.
enum element_need {
    NEEDS_STORAGE_16 = 1 << 0, // storageBuffer16BitAccess
    NEEDS_STORAGE_8 = 1 << 1,  // storageBuffer8BitAccess
    NEEDS_FLOAT_16 = 1 << 2,   // shaderFloat16, and so on
    NEEDS_INT_8 = 1 << 3,
    NEEDS_INT_16 = 1 << 4,
    NEEDS_INT_64 = 1 << 5,
    NEEDS_FLOAT_64 = 1 << 6,
    NEEDS_HALF = NEEDS_STORAGE_16 | NEEDS_FLOAT_16,
    NEEDS_BYTE = NEEDS_STORAGE_8 | NEEDS_INT_8,
    NEEDS_SHORT = NEEDS_STORAGE_16 | NEEDS_INT_16,
};

// name: its bytes, the bits of its exponent (0: whole numbers) and of its fraction (a whole number:
// of its value, without a sign), the usual tolerance of results, its needs, the words of GLSL for
// what holds one and for vectors of that. Floats are those of IEEE 754, of 8 bits those of "OCP
// 8-bit Floating Point Specification" (2023), where f8e4m3 has no infinity. GLSL does not have bf16
// and f8 everywhere: whole numbers hold their bits.
// clang-format off
#define ELEMENTS(E) \
    E(F32,    "f32",    4,  8, 23, 1e-5,  0,              "float",     "vec") \
    E(F16,    "f16",    2,  5, 10, 1e-3,  NEEDS_HALF,     "float16_t", "f16vec") \
    E(I8,     "i8",     1,  0,  7, 0,     NEEDS_BYTE,     "int8_t",    "i8vec") \
    E(I32,    "i32",    4,  0, 31, 0,     0,              "int",       "ivec") \
    E(U8,     "u8",     1,  0,  8, 0,     NEEDS_BYTE,     "uint8_t",   "u8vec") \
    E(I16,    "i16",    2,  0, 15, 0,     NEEDS_SHORT,    "int16_t",   "i16vec") \
    E(U16,    "u16",    2,  0, 16, 0,     NEEDS_SHORT,    "uint16_t",  "u16vec") \
    E(U32,    "u32",    4,  0, 32, 0,     0,              "uint",      "uvec") \
    E(I64,    "i64",    8,  0, 63, 0,     NEEDS_INT_64,   "int64_t",   "i64vec") \
    E(U64,    "u64",    8,  0, 64, 0,     NEEDS_INT_64,   "uint64_t",  "u64vec") \
    E(F64,    "f64",    8, 11, 52, 1e-13, NEEDS_FLOAT_64, "double",    "dvec") \
    E(BF16,   "bf16",   2,  8,  7, 1e-2,  NEEDS_SHORT,    "uint16_t",  "u16vec") \
    E(F8E4M3, "f8e4m3", 1,  4,  3, 0.125, NEEDS_BYTE,     "uint8_t",   "u8vec") \
    E(F8E5M2, "f8e5m2", 1,  5,  2, 0.25,  NEEDS_BYTE,     "uint8_t",   "u8vec")
// clang-format on

#define ELEMENT_ENUMERATOR(e, ...) ELEMENT_##e,
#define ELEMENT_NAME(e, name, ...) name,

enum element { ELEMENTS(ELEMENT_ENUMERATOR) ELEMENT_COUNT };

struct element_traits {
    const char *name;
    uint8_t bytes, exponent, fraction;
    double tolerance;
    unsigned needs;
    const char *scalar, *vector; // in GLSL
};
extern const struct element_traits element_traits[ELEMENT_COUNT];

// The floats that an extension of GLSL declares, and its function that makes one of its bits:
// fragments of matrix units are made of these. NULL for other types.
struct element_float {
    const char *type, *extension, *from_bits;
};
extern const struct element_float element_floats[ELEMENT_COUNT];

const char *element_name(enum element e);     // "f32"
enum element element_named(const char *name); // ELEMENT_COUNT: no type has the name
int element_bytes(enum element e);            // 4
bool element_is_real(enum element e);         // false: whole numbers
bool element_is_bits(enum element e);         // true: bf16, f8, whose bits whole numbers hold
// The least and the largest finite number, of 64 bits the last doubles within them.
double element_least(enum element e);
double element_most(enum element e);
// Returns the number, or, of a float of 8 bits, the nearest finite one: these saturate. NaN stays.
double element_saturated(enum element e, double x);
// Every whole number of at most this size is an element, but those below element_least.
double element_exact(enum element e);

struct tensor {
    const char *name; // "A", "bias"
    enum element element;
    int rank;
    int64_t size[TENSOR_MAX_RANK];   // slowest first
    int64_t stride[TENSOR_MAX_RANK]; // in elements; no two elements have the same offset
};

int64_t tensor_count(const struct tensor *t);  // elements; saturates at 2^63-1
int64_t tensor_extent(const struct tensor *t); // elements and the gaps between them
uint64_t tensor_bytes(const struct tensor *t); // its buffer's, gaps included, a multiple of 4
// A line of a tensor is the elements along the last dimension.
int64_t tensor_lines(const struct tensor *t);
int64_t tensor_line(const struct tensor *t, int64_t line); // the offset of its first element
bool tensor_has(const struct tensor *t, int64_t offset);   // false in a gap
// Returns a tensor without gaps.
struct tensor tensor_packed(const char *name, enum element element, int rank, const int64_t *size);

// Returns the bits of the first number of a real element that is not finite: of an infinity, or,
// where there is none, of the one NaN.
uint64_t element_limit(enum element e);

// --- elements as numbers: a double holds each of them exactly, but whole ones of 64 bits ---

double element_get(const void *buffer, enum element e, int64_t index);
// Rounds to nearest, ties to even, to what is smaller than a float through float. A whole number
// must fit.
void element_put(void *buffer, enum element e, int64_t index, double value);
void element_move(void *to, int64_t index, const void *from, int64_t from_index, enum element e);
// Returns the distance of the elements of two buffers; 0 if they are equal, also of 64 bits.
double element_distance(const void *a, const void *b, enum element e, int64_t index);

// Conversion of IEEE 754 binary16 ("half"), of which C11 has no type, to and from binary32.
//
//     float x = half_to_float(0x3c00);      1.0, exact for every half
//     uint16_t h = half_from_float(0.1f);
//
float half_to_float(uint16_t h);
uint16_t half_from_float(float x);

#endif
