// The writer of a kernel's GLSL: its text, loops, expressions and stores (writer.c). On top of it
// stand the staging of reads in shared memory (staging.c), kernels on matrix units (matrix.c), and
// the kernel as a whole (glsl.c).
//
//     depth = writer_begin(w, 1);  writer_axes(w, depth, true);       a block, the axes in it
//     lane = writer_begin_lanes(w, depth, node);  writer_node(w, node);  writer_end_lanes(w, lane);
//     writer_end(w, depth);
//
// Names in the GLSL: tensors begin with T_, or V_ where they are read as vectors; axes begin with
// an underscore and end with their number, so that they never equal a word of GLSL. The loop
// counters are v, w, r (virtual, outer, inner parts of space loops) and o, m, u (loop, middle,
// written parts of reduction loops), each with the loop's number, and l for the lanes of a vector.
#ifndef TILEWALK_DEFINE_WRITER_H
#define TILEWALK_DEFINE_WRITER_H

#include "define/program.h"

enum { WRITER_MOST_GUARDS = 64 };
#define WRITER_MOST_TEXT (1 << 20) // a longer text is refused, and its expressions are cut short

struct writer {
    const struct program *p;
    const struct program_kernel *k;
    const struct tiling *t;
    struct str *out;
    const struct define_stage *stage;      // the stage whose axes the expressions are over
    const char *prefix;                    // of axis names; NULL: the axes are at0, at1, ...
    bool *is_named;                        // nodes that have a variable, by number; NULL: none
    signed char *wide;                     // reads that have a constant for all lanes; NULL: none
    bool reads_vectors[DEFINE_MAX_INPUTS]; // tensors that are read as vectors
    int guard[WRITER_MOST_GUARDS];         // conditions of the selects around the expression
    bool holds[WRITER_MOST_GUARDS];        // their values in the branch
    int guards;
    // The expression is a factor of elements that are held as bits: an element, a select between
    // such, 0 or 1. The bits are written, not the numbers.
    bool as_bits;
    bool uses_parts; // scratch memory holds partial results of split reductions
};

void writer_line(struct writer *w, int depth, const char *format, ...)
    __attribute__((format(printf, 3, 4))); // indented, with its end
void writer_indent(struct writer *w, int depth);
// Writes the type of a variable: "float", "int", "vec4", "ivec2". Narrow inputs are widened.
void writer_type(struct writer *w, bool is_real, int lanes);
const char *writer_element(enum element e, bool is_vector); // "float16_t", "f16vec"
void writer_number(struct writer *w, double number, bool is_real);
// Writes a digit of a mixed-radix number, times `by`: "thread / 8 % 4 * 2"; "0" for the only value.
void writer_digit(struct writer *w, const char *of, int64_t stride, int64_t count, int64_t by);
// Combines two texts by the kernel's reduction: "a + b", "max(a, b)".
void writer_combine(struct writer *w, const char *a, const char *b);

// Opens a block and returns the depth inside, which writer_end takes.
int writer_begin(struct writer *w, int depth);
void writer_end(struct writer *w, int depth);
// Declares the first index of the workgroup and of the invocation along each space loop.
void writer_origins(struct writer *w);
// Opens the loops of a part: 'v', 'w', 'r' over space, 'o', 'm', 'u' over the reduction.
void writer_loops(struct writer *w, int depth, char kind, int part);
// Declares where an iteration of the outer reduction loops begins along each axis. `step` is the
// text of its number; NULL: that of the loops around.
void writer_reduced_bases(struct writer *w, int depth, const char *step);
// Declares the axes as constants, from the loops around; `reduces`: reduction axes too.
void writer_axes(struct writer *w, int depth, bool reduces);
// Declares these axes, a bit each, as digits of the variable `name`.
void writer_digits(struct writer *w, int depth, const char *name, unsigned axes);
// Writes "if" with the condition that no space loop, or no reduction loop, is past its end.
void writer_guard(struct writer *w, int depth, bool space);
// Writes the accumulator of the result that the loops around compute.
void writer_register(struct writer *w);

void writer_node(struct writer *w, int node);
void writer_vector(struct writer *w, int read, int lanes); // the read as a vector

// Opens the loop over lanes around the statements that compute the expression (-1: none). Reads of
// all lanes at once become constants in front of it, and nodes that the expression uses twice
// become variables. Returns the depth inside; writer_end_lanes takes it.
int writer_begin_lanes(struct writer *w, int depth, int node);
void writer_end_lanes(struct writer *w, int depth);

void writer_target(struct writer *w);           // where the result is stored
void writer_store(struct writer *w, int depth); // the result, by the kernel's epilogue

// --- staging.c ---

void writer_declare_shared(struct writer *w); // before main
// Fills the staged tiles of this iteration of the outer reduction loops, between barriers.
void writer_stage(struct writer *w, int depth);
// With two buffers: fills the first tile before the outer loops; in each iteration fetches the next
// tile into registers before this one is computed, and puts it into shared memory afterwards.
void writer_stage_first(struct writer *w, int depth);
void writer_fetch_next(struct writer *w, int depth);
void writer_put_next(struct writer *w, int depth);
// Reduces the partial results of the invocations that share a reduction; each gets the result.
void writer_reduce_shared(struct writer *w);

// --- matrix.c ---

void writer_matrix_extensions(struct writer *w);
void writer_matrix_macros(struct writer *w); // with the declarations of shared memory
void writer_matrix_main(struct writer *w);

#endif
