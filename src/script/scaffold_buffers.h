// The buffers of a scaffold: what a shader's bindings are, which of them it writes, and what a
// space file says of them. For the files of the scaffold.
//
//     scaffold_find_buffers(&o, &b); scaffold_name_buffers(&use, &b);
//     scaffold_add_operator(&b, &lua);                  the operator that a person has to complete
//     scaffold_add_bindings(&o, &b, &lua);              bindings, sets, image and address
//
// An image or a texel buffer is a buffer that has a form; an array of N is N buffers one behind the
// other. Sizes of what nobody knows are made of N, so that the scaffold loads.
#ifndef TILEWALK_SCRIPT_SCAFFOLD_BUFFERS_H
#define TILEWALK_SCRIPT_SCAFFOLD_BUFFERS_H

#include "script/scaffold.h"

#define SCAFFOLD_MOST_BUFFERS 15

// The buffers that a person sees, in the order of sets and bindings, then those by their addresses.
// Blocks of one binding are one buffer.
struct scaffold_buffers {
    const struct scaffold_buffer *at[SCAFFOLD_MOST_BUFFERS];
    int count, addressed; // of all; of them by their addresses, the last ones
    bool is_output[SCAFFOLD_MOST_BUFFERS];
    const char
        *named[SCAFFOLD_MOST_BUFFERS]; // what a preset's operator calls it; NULL: as its block
    int channels; // the most that a texel of an image has; 1: there are no images
};

void scaffold_find_buffers(const struct scaffold *o, struct scaffold_buffers *b);
// Gives the buffers the names of a preset's, inputs and outputs each in their order; what is more
// than it has gets the last one's.
void scaffold_name_buffers(const struct scaffold_use *use, struct scaffold_buffers *b);
void scaffold_add_operator(const struct scaffold_buffers *b, struct str *out);
void scaffold_add_bindings(const struct scaffold *o, const struct scaffold_buffers *b,
                           struct str *out);

// Returns the buffer whose address is in a field of the push constants; NULL: it is none.
const struct scaffold_buffer *scaffold_addressed_by(const struct scaffold *o,
                                                    const struct scaffold_field *f);
// Returns the block of a uniform binding; NULL: it is none.
const struct scaffold_block *scaffold_block_at(const struct scaffold *o, int64_t set,
                                               int64_t binding);

// Returns if a type of GLSL is that of an image or texel buffer that can be bound.
bool scaffold_is_image(const char *type);

void scaffold_add_name(const char *name, struct str *out); // one that Lua and space files accept

#endif
