#include "saved.h"

#include "base/file.h"

#include <stdlib.h>

static const enum element elements[] = {ELEMENT_F32, ELEMENT_F16, ELEMENT_I8, ELEMENT_I32};

static void take(const struct weights_file *f, const struct weights_choice *choice,
                 const struct tensor *to, struct arena *a)
{
    struct weights w;
    struct err e;
    if (!weights_take(f, choice, to, a, &w, &e))
        return;
    void *out = mem_alloc((size_t)w.count * (size_t)element_bytes(w.element));
    bool read = weights_read(&w, out, &e);
    must(read || choice->rounds, "what was taken, and is not rounded, can be read");
    free(out);
}

static void take_tensor(const struct weights_file *f, const struct saved_tensor *t, struct arena *a)
{
    struct tensor to = {.name = "W", .rank = 1, .stride = {1}};
    const struct weights_choice as_it_is = {f->format == WEIGHTS_NPY ? NULL : t->name, false};
    const struct weights_choice rounded = {as_it_is.name, true};
    uint64_t count = 1;
    must(t->offset + t->bytes <= f->file_bytes, "the data lie in the file");
    for (int i = 0; i < t->rank; i++)
        count *= t->size[i];
    to.size[0] = (int64_t)count;
    if (count == 0 || count > f->file_bytes)
        return;
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        to.element = elements[i];
        take(f, &as_it_is, &to, a);
        take(f, &rounded, &to, a);
    }
}

void fuzz_saved(const uint8_t *data, size_t size, enum weights_format format)
{
    const char *path = fuzz_file(data, size);
    char *folder = path_folder(path);
    struct arena arena;
    struct err e;
    arena_init(&arena);
    struct weights_file *f = weights_open(path, folder, format, &e);
    for (int i = 0; f && i < f->count; i++)
        take_tensor(f, &f->tensor[i], &arena);
    weights_close(f);
    arena_finish(&arena);
    free(folder);
}
