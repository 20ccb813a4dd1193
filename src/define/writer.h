// Writing GLSL: an expression of a kernel (expression.c), the loops around it (places.c), numbers
// that are computed at once (lanes.c), the kernel (glsl.c), and what the invocations of a workgroup
// share (shared.c). Shared by these only.
//
// Names: tensors have T_ in front, or V_ as vectors; axes an underscore in front and their number
// behind, so that neither meets a word of GLSL. Loops over space are v, w, r (their virtual, outer,
// inner parts), those over reductions o, m, u, with their number behind, and l over lanes.
#ifndef TILEWALK_DEFINE_WRITER_H
#define TILEWALK_DEFINE_WRITER_H

#include "define/program.h"

enum { WRITER_MOST_GUARDS = 64 };

struct writer {
    const struct program *p;
    const struct program_kernel *k;
    const struct tiling *t;
    struct str *out;
    const struct define_stage *stage;   // whose axes an expression's are
    const char *prefix;                 // of their names; NULL: they are at0, at1, ...
    bool *is_named;                     // of each node: it stands in a variable; NULL: none does
    signed char *held;                  // the same of reads, for all lanes (lanes.c)
    bool reads_wide[DEFINE_MAX_INPUTS]; // which tensors are read as vectors
    int guard[WRITER_MOST_GUARDS];      // conditions that hold here
    bool holds[WRITER_MOST_GUARDS];
    int guards;
    bool uses_parts; // which workgroups that share a reduction hand over in scratch memory
};

bool writer_is_full(const struct writer *w); // then nothing more is written
void writer_line(struct writer *w, int depth, const char *format, ...)
    __attribute__((format(printf, 3, 4))); // indented, with its end
void writer_indent(struct writer *w, int depth);
// A digit of a number, times `by`: "thread / 8 % 4 * 2"; "0" where it has one value.
void writer_digit(struct writer *w, const char *of, int64_t stride, int64_t count, int64_t by);
void writer_number(struct writer *w, double number, bool is_real);
void writer_node(struct writer *w, int node);
// The read as a vector of so many.
void writer_wide(struct writer *w, int read, int lanes);
// Combines two texts by the kernel's reduction: "a + b", "max(a, b)".
void writer_combine(struct writer *w, const char *a, const char *b);

// --- places.c ---

// A block of its own: give the depth within, and take it.
int writer_begin(struct writer *w, int depth);
void writer_end(struct writer *w, int depth);
// Where a workgroup's numbers begin along each loop, and an invocation's.
void writer_origins(struct writer *w);
// The heads of a part of all loops: 'v', 'w', 'r' of those over space, 'o', 'm', 'u' of the others.
void writer_loops(struct writer *w, int depth, char kind, int part);
// Where a step of the outer loops begins along each axis of the reduction: the one of that number,
// a text; NULL: the one that the loops stand at.
void writer_reduced_bases(struct writer *w, int depth, const char *step);
// The axes as constants, where the loops stand; `reduces`: those of the reduction too.
void writer_axes(struct writer *w, int depth, bool reduces);
// These axes, a bit each, as digits of what is called `name`.
void writer_digits(struct writer *w, int depth, const char *name, unsigned axes);
// Before what is done only where no loop over space, or over the reduction, is past its end.
void writer_guard(struct writer *w, int depth, bool space);
// The number of the block in registers that the loops around stand at.
void writer_register(struct writer *w);

// --- lanes.c ---

// Opens what is done for each lane, before it what the expression reads for all (-1: nothing).
// Where there is one lane it does nothing. Gives the depth within, and takes it.
int writer_begin_lanes(struct writer *w, int depth, int node);
void writer_end_lanes(struct writer *w, int depth);
bool writer_held(struct writer *w, int node); // writes what stands for it, if something does
const char *writer_vector(bool is_real);      // what a vector's type begins with

// --- shared.c ---

// Declarations of what is shared; before main.
void writer_shared(struct writer *w);
// Fills the copies for this step of the outer loops, with barriers around.
void writer_fill(struct writer *w, int depth);
// Where two tiles are held: fills the first one before the outer loops; in a
// step fetches the next one, before this one is computed, and puts it into its
// place after.
void writer_first_tile(struct writer *w, int depth);
void writer_fetch_next(struct writer *w, int depth);
void writer_put_next(struct writer *w, int depth);
// The element of the copy that the read is of, or as many neighbours.
void writer_copy_element(struct writer *w, int copy, int lanes);
// Reduces what the invocations have of each number, which all of them have afterwards.
void writer_exchange(struct writer *w);

// --- fragments.c ---

// Of a kernel on matrix units: its extensions; what is shared, and how a fragment is loaded,
// multiplied and stored; and what main does.
void writer_unit_extensions(struct writer *w);
void writer_unit_words(struct writer *w);
void writer_units(struct writer *w);

// --- glsl.c ---

// Stores what becomes of the number at hand.
void writer_store(struct writer *w, int depth);
const char *writer_scalar(enum element e); // "float16_t"

#endif
