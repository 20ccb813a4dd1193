// Writing GLSL: an expression of a kernel (expression.c), and the kernel around it (glsl.c). Shared
// by these two only.
#ifndef TILEWALK_DEFINE_WRITER_H
#define TILEWALK_DEFINE_WRITER_H

#include "define/program.h"

enum { WRITER_MOST_GUARDS = 64 };

struct writer {
    const struct program *p;
    const struct program_kernel *k;
    const struct tiling *t;
    struct str *out;
    bool *is_named;                // of each node: it stands in a variable; NULL: none does
    int guard[WRITER_MOST_GUARDS]; // conditions that hold here
    bool holds[WRITER_MOST_GUARDS];
    int guards;
};

bool writer_is_full(const struct writer *w); // then nothing more is written
void writer_number(struct writer *w, double number, bool is_real);
void writer_node(struct writer *w, int node);
// The number of the block in registers that the loops around stand at.
void writer_register(struct writer *w);

#endif
