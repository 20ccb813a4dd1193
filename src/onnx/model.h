// An ONNX model as its file says, in plain structures: what computes nodes, what flows between
// them, constants. Nothing is understood yet but the format.
//
//     struct onnx_model m;
//     if (onnx_read("resnet50.onnx", &m, e)) ...
//     onnx_finish(&m);                              in any case
//
// The file is mapped, not read: large constants stay where they are. Every size in it is held
// against the file's own, names that are not there are "". Errors do not name the file.
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
    ONNX_TYPES
};

const char *onnx_type_name(int type); // "float"; "of a type that tilewalk does not know"
int onnx_type_bytes(int type);        // 0: none of these

struct onnx_shape {
    int rank;
    int64_t size[ONNX_MAX_RANK]; // slowest first
};

int64_t onnx_count(const struct onnx_shape *s); // elements; saturates at 2^63-1
// Whether a buffer holds it. All shapes of a model that was read do, so that no product of some of
// their sizes overflows; what a dimension is that is left open is not asked.
bool onnx_fits(const struct onnx_shape *s);

struct onnx_tensor;

struct onnx_view {                // some elements of a constant, or all, in another order
    const struct onnx_tensor *of; // which is no view
    struct onnx_shape shape;
    int64_t first, stride[ONNX_MAX_RANK];
};

// A constant: its elements as the file has them, or numbers that were computed, or all the same, or
// those of another one.
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
    int type; // some files do not say it: what it has
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

struct onnx_info { // what the file says of a value
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
// The same of bytes, which stay the caller's and must outlive `out`. `folder`: below which data in
// other files lie; NULL: they are refused.
bool onnx_read_bytes(const unsigned char *bytes, size_t length, const char *folder,
                     struct onnx_model *out, struct err *e);
void onnx_finish(struct onnx_model *m);

// A file of one tensor, as test data are kept. Its memory is that of `m`, which has been read.
bool onnx_read_tensor(const char *path, struct onnx_model *m, struct onnx_tensor *out,
                      struct err *e);

// Whether what a file begins with may be a model: its first field is a model's, and no text's.
bool onnx_begins(const unsigned char *bytes, size_t length);

// NULL, or `standard`, where there is none of that name.
const struct onnx_attribute *onnx_attribute(const struct onnx_node *n, const char *name);
int64_t onnx_int(const struct onnx_node *n, const char *name, int64_t standard);
double onnx_real(const struct onnx_node *n, const char *name, double standard);
const char *onnx_text(const struct onnx_node *n, const char *name, const char *standard);

#endif
