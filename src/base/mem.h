// Memory: allocation that never fails, and an arena.
//
// Out of memory ends the program with one line on stderr (after the hook set by mem_on_exhausted, which restores the
// terminal). An arena owns many small allocations that die together: a space, a parsed file.
#ifndef TILEWALK_BASE_MEM_H
#define TILEWALK_BASE_MEM_H

#include <stddef.h>

void *mem_alloc(size_t size);                           // uninitialised; size 0 is fine; free() releases it
void *mem_zero(size_t count, size_t size);              // zeroed; checks the product for overflow
void *mem_resize(void *old, size_t count, size_t size); // realloc of an array; checks the product for overflow
char *mem_strdup(const char *text);
char *mem_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
void mem_on_exhausted(void (*hook)(void));

// Makes room for one more element: `if (n == cap) grow`. Doubles. `items` is an lvalue of pointer type.
#define MEM_GROW(items, count, capacity)                                                                               \
    do {                                                                                                               \
        if ((count) == (capacity)) {                                                                                   \
            (capacity) = (capacity) ? 2 * (capacity) : 16;                                                             \
            (items) = mem_resize((items), (size_t)(capacity), sizeof *(items));                                        \
        }                                                                                                              \
    } while (0)

struct arena {
    struct arena_block *blocks; // newest first
};

void arena_init(struct arena *a);
void arena_finish(struct arena *a); // frees everything; the arena is empty and usable again
void *arena_zero(struct arena *a, size_t count, size_t size); // zeroed, aligned for any type
char *arena_strdup(struct arena *a, const char *text);
char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
