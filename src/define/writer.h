// Writing GLSL: an expression of a kernel (expression.c), the kernel around it (glsl.c), and what
// the invocations of a workgroup share (shared.c). Shared by these only.
//
// Names: tensors have T_ in front, axes an underscore in front and their number behind, so that
// neither meets a word of GLSL. Loops over space are v, w, r (their virtual, outer, inner parts),
// those over reductions o, m, u, with their number behind.
#ifndef TILEWALK_DEFINE_WRITER_H
#define TILEWALK_DEFINE_WRITER_H

#include "define/program.h"

enum { WRITER_MOST_GUARDS = 64 };

struct writer {
    const struct program *p;
    const struct program_kernel *k;
    const struct tiling *t;
    struct str *out;
    const struct define_stage *stage; // whose axes an expression's are
    const char *prefix;               // of their names; NULL: they are at0, at1, ...
    bool *is_named;                   // of each node: it stands in a variable; NULL: none does
    int guard[WRITER_MOST_GUARDS];    // conditions that hold here
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
// The number of the block in registers that the loops around stand at.
void writer_register(struct writer *w);
// Combines two texts by the kernel's reduction: "a + b", "max(a, b)".
void writer_combine(struct writer *w, const char *a, const char *b);

// Declarations of what is shared; before main.
void writer_shared(struct writer *w);
// Fills the copies for this step of the outer loops, with barriers around.
void writer_fill(struct writer *w, int depth);
// The element of the copy that the read is of.
void writer_copy_element(struct writer *w, int copy);
// Reduces what the invocations have of each number, which all of them have afterwards.
void writer_exchange(struct writer *w);

#endif
