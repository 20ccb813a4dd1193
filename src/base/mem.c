#include "base/mem.h"

#include "base/os.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_BLOCK_BYTES = 16 * 1024 };

static void (*exhausted_hook)(void); // set once, before there are threads

void mem_on_exhausted(void (*hook)(void))
{
    exhausted_hook = hook;
}

static void *checked(void *memory)
{
    if (memory)
        return memory;
    if (exhausted_hook)
        exhausted_hook();
    char limits[OS_LIMITS_SIZE];
    const char *low = os_low_limits(limits);
    fprintf(stderr, "tilewalk: out of memory%s%s\n", *low ? ": " : "", low);
    abort();
}

enum { NEVER = -1 };

static atomic_llong left = NEVER; // allocations before the one that fails

void mem_fail_as(const char *role)
{
    const char *which = getenv("TILEWALK_FAIL_ALLOCATION");
    size_t length = strlen(role);
    if (which && strncmp(which, role, length) == 0 && which[length] == ':')
        atomic_store(&left, llabs(atoll(which + length + 1)));
}

static bool is_to_fail(void)
{
    return atomic_load(&left) >= 0 && atomic_fetch_sub(&left, 1) == 0;
}

static size_t product(size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        checked(NULL);
    return count * size;
}

void *mem_alloc(size_t size)
{
    return checked(is_to_fail() ? NULL : malloc(size ? size : 1));
}

void *mem_zero(size_t count, size_t size)
{
    size_t bytes = product(count, size);
    return checked(is_to_fail() ? NULL : calloc(1, bytes ? bytes : 1));
}

void *mem_resize(void *old, size_t count, size_t size)
{
    size_t bytes = product(count, size);
    return checked(is_to_fail() ? NULL : realloc(old, bytes ? bytes : 1));
}

char *mem_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(mem_alloc(size), text, size);
}

char *mem_printf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = mem_zero((size_t)length + 1, 1);
    va_start(args, format);
    vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}

void mem_expect(size_t bytes)
{
    if (bytes && !os_has_memory(bytes))
        checked(NULL);
}

struct arena_block {
    struct arena_block *next;
    size_t used, size; // in bytes of `memory`
    max_align_t memory[];
};

void arena_init(struct arena *a)
{
    a->blocks = NULL;
}

void arena_finish(struct arena *a)
{
    while (a->blocks) {
        struct arena_block *block = a->blocks;
        a->blocks = block->next;
        free(block);
    }
}

void *arena_zero(struct arena *a, size_t count, size_t size)
{
    size_t bytes = product(count, size), align = sizeof(max_align_t);
    if (bytes > SIZE_MAX - align - sizeof(struct arena_block))
        checked(NULL);
    bytes = (bytes + align - 1) / align * align;
    struct arena_block *block = a->blocks;
    if (!block || block->size - block->used < bytes) {
        size_t room = bytes > ARENA_BLOCK_BYTES ? bytes : ARENA_BLOCK_BYTES;
        block = mem_zero(1, sizeof *block + room);
        block->next = a->blocks;
        block->size = room;
        a->blocks = block;
    }
    void *memory = (char *)block->memory + block->used;
    block->used += bytes;
    return memory;
}

char *arena_strdup(struct arena *a, const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(arena_zero(a, size, 1), text, size);
}

char *arena_printf(struct arena *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = arena_zero(a, (size_t)length + 1, 1);
    va_start(args, format);
    vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}
