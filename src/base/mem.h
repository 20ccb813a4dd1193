// Memory: allocation that never fails, and an arena.
//
// Out of memory ends the program with one line on stderr (after the hook set by mem_on_exhausted,
// which restores the terminal), so callers never check. Tests make an allocation fail
// (mem_fail_as). An arena owns many small allocations that are freed together: those of a space, of
// a parsed file. One thread at a time uses an arena.
#ifndef TILEWALK_BASE_MEM_H
#define TILEWALK_BASE_MEM_H

#include <stddef.h>

// free() releases what these return. Size 0 is fine; a product that overflows is out of memory.
void *mem_alloc(size_t size); // uninitialised
void *mem_zero(size_t count, size_t size);
void *mem_resize(void *old, size_t count, size_t size); // realloc of an array
char *mem_strdup(const char *text);
char *mem_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Ends the program as out of memory where so many bytes cannot be allocated now: before a library
// that would wait for them for ever.
void mem_expect(size_t bytes);

void mem_on_exhausted(void (*hook)(void)); // set once, before there are threads

// Names what this process does from here on: a command, or the message that a worker began with.
// With TILEWALK_FAIL_ALLOCATION=ROLE:N, which tests set, the N-th allocation after this call fails,
// counted from 0.
void mem_fail_as(const char *role);

// Makes room for one more element by doubling. The three arguments are lvalues, `items` a pointer:
//     MEM_GROW(list, n, capacity);
//     list[n++] = element;
#define MEM_GROW(items, count, capacity)                                                           \
    do {                                                                                           \
        if ((count) == (capacity)) {                                                               \
            (capacity) = (capacity) ? 2 * (capacity) : 16;                                         \
            (items) = mem_resize((items), (size_t)(capacity), sizeof *(items));                    \
        }                                                                                          \
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
