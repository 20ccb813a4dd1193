// An ONNX model as its file has it, in plain structures: nodes, the values between them, constants.
// Only the format is interpreted here.
//
//     struct onnx_model m;
//     if (onnx_read("resnet50.onnx", &m, e)) ...
//     onnx_finish(&m);                              in any case
//
// The file is mapped, not read: large constants stay where they are. Every size in it is compared
// with the size of the file. A name that is missing is "". Errors do not name the file.
#ifndef TILEWALK_ONNX_MODEL_H
#define TILEWALK_ONNX_MODEL_H

#include "base/err.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

#define ONNX_MAX_RANK 8

enum onnx_type { // as the format numbers them
    ONNX_UNKNOWN = 0,
    ONNX_FLOAT = 1,
    ONNX_UINT8 = 2,
    ONNX_INT8 = 3,
    ONNX_UINT16 = 4,
    ONNX_INT16 = 5,
    ONNX_INT32 = 6,
    ONNX_INT64 = 7,
    ONNX_BOOL = 9,
    ONNX_FLOAT16 = 10,
    ONNX_DOUBLE = 11,
    ONNX_UINT32 = 12,
    ONNX_UINT64 = 13,
    ONNX_BFLOAT16 = 16,
    ONNX_FLOAT8E4M3FN = 17,
    ONNX_FLOAT8E5M2 = 19,
    ONNX_TYPES
};

const char *onnx_type_name(int type); // "float"; "of a type that tilewalk does not know"
int onnx_type_bytes(int type);        // 0: none of these
bool onnx_type_is_real(int type);     // false: whole numbers, or none of these
// Returns a number rounded to the type as Cast does; `saturates` is its attribute, for the types of
// 8 bits: what is too large becomes the largest number, else infinity or what is no number.
double onnx_rounded(double a, int type, bool saturates);

struct onnx_shape {
    int rank;
    int64_t size[ONNX_MAX_RANK]; // slowest first
};

int64_t onnx_count(const struct onnx_shape *s); // elements; saturates at 2^63-1
// Returns whether a buffer can hold it; dimensions that are left open do not count. This is so for
// all shapes of a model that was read, so that no product of some of their sizes overflows.
bool onnx_fits(const struct onnx_shape *s);

struct onnx_tensor;

struct onnx_view {                // some elements of a constant, or all, in another order
    const struct onnx_tensor *of; // which is no view
    struct onnx_shape shape;
    int64_t first, stride[ONNX_MAX_RANK];
    int type; // that they are rounded to; ONNX_UNKNOWN: they are not
    bool saturates;
};

// A constant. Its elements are bytes of the file, or computed numbers, or one number for all, or
// elements of another constant.
struct onnx_tensor {
    const char *name;
    int type;
    struct onnx_shape shape;
    int64_t count;
    const unsigned char *raw;     // little endian, perhaps not aligned
    const double *value;          // where raw is NULL
    double fill;                  // where both are
    const struct onnx_view *view; // NULL: none of these three but it
};

double onnx_element(const struct onnx_tensor *t, int64_t index);

enum onnx_attribute_type { // as the format numbers them
    ONNX_REAL = 1,
    ONNX_WHOLE = 2,
    ONNX_TEXT = 3,
    ONNX_TENSOR = 4,
    ONNX_REALS = 6,
    ONNX_WHOLES = 7
};

struct onnx_attribute {
    const char *name;
    int type; // derived from its contents where the file has none
    int64_t i;
    double f;
    const char *s;
    const int64_t *ints;
    int int_count;
    const struct onnx_tensor *tensor; // NULL: none; numbers of a constant, too: "value_ints"
    bool has_graph;
    const char **reads; // names that the graph inside reads, perhaps of its own
    int read_count;
};

struct onnx_node {
    const char *name, *kind, *domain; // "n12", "Conv", ""
    const char **input, **output;
    int input_count, output_count;
    struct onnx_attribute *attribute;
    int attribute_count;
};

struct onnx_info { // a value as the file describes it
    const char *name;
    int type;
    bool has_shape;
    struct onnx_shape shape;         // -1: a dimension that is left open
    const char *open[ONNX_MAX_RANK]; // its name, "" where it has none
};

struct onnx_model {
    const char *producer;
    int64_t opset;
    struct onnx_node *node;
    struct onnx_tensor *constant;
    struct onnx_info *input, *output, *info; // constants may be among the inputs
    bool has_sparse;                         // constants, which are not read
    int node_count, constant_count, input_count, output_count, info_count;
    // ours
    struct onnx_mapping *mapping;
    int mapping_count, mapping_capacity;
    struct arena arena;
};

bool onnx_read(const char *path, struct onnx_model *out, struct err *e);
// Reads a model from bytes, which stay the caller's and must outlive `out`. Data in other files are
// read from below `folder`; NULL: they are refused.
bool onnx_read_bytes(const unsigned char *bytes, size_t length, const char *folder,
                     struct onnx_model *out, struct err *e);
void onnx_finish(struct onnx_model *m);

// Reads a file of one tensor, the form of test data. Its memory belongs to `m`, which has been
// read.
bool onnx_read_tensor(const char *path, struct onnx_model *m, struct onnx_tensor *out,
                      struct err *e);

// Returns whether a file that begins so may be a model: its first field is a model's version. Texts
// begin otherwise.
bool onnx_begins(const char *bytes, size_t length);

// These return NULL or `standard` where there is none of that name.
const struct onnx_attribute *onnx_attribute(const struct onnx_node *n, const char *name);
int64_t onnx_int(const struct onnx_node *n, const char *name, int64_t standard);
double onnx_real(const struct onnx_node *n, const char *name, double standard);
const char *onnx_text(const struct onnx_node *n, const char *name, const char *standard);

#endif
