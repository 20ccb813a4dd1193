#include "report/kernel_files.h"

#include "base/file.h"
#include "base/mem.h"

#include <stdlib.h>
#include <unistd.h>

static struct kernel_file *add_file(struct kernel_files *f, char *name)
{
    MEM_GROW(f->file, f->count, f->capacity);
    struct kernel_file *file = &f->file[f->count++];
    *file = (struct kernel_file){.name = name};
    return file;
}

void kernel_files_add_text(struct kernel_files *f, char *name, struct str *text)
{
    struct kernel_file *file = add_file(f, name);
    file->length = text->length;
    file->bytes = str_take(text);
}

static void add_pass(struct kernel_files *f, const char *name, int index,
                     const struct kernel_pass *p)
{
    struct str bytes = {0};
    if (p->given)
        str_printf(&bytes, "// %s\n", p->given);
    str_add(&bytes, p->glsl);
    kernel_files_add_text(f, kernel_pass_name(name, index, "comp"), &bytes);
    str_add_bytes(&bytes, p->word, p->word_count * sizeof *p->word);
    kernel_files_add_text(f, kernel_pass_name(name, index, "spv"), &bytes);
}

void kernel_files_add(struct kernel_files *f, const struct kernel_description *d)
{
    struct str text = {0};
    for (int i = 0; i < d->pass_count; i++)
        add_pass(f, d->name, i, &d->pass[i]);
    kernel_add_json(d, false, &text);
    kernel_files_add_text(f, mem_printf("%s.json", d->name), &text);
    kernel_add_header(d, &text);
    kernel_files_add_text(f, mem_printf("%s.h", d->name), &text);
}

// `staged` are the temporaries of the files that are not in place yet.
static bool stage_all(const struct kernel_files *f, const char *folder, char **staged,
                      struct err *e)
{
    bool ok = true;
    for (int i = 0; ok && i < f->count; i++) {
        const struct kernel_file *file = &f->file[i];
        char *path = path_join(folder, file->name);
        staged[i] = file_stage(path, file->bytes, file->length, e);
        ok = staged[i] != NULL;
        free(path);
    }
    return ok;
}

static bool put_all(const struct kernel_files *f, const char *folder, char **staged, struct err *e)
{
    bool ok = true;
    for (int i = 0; ok && i < f->count; i++) {
        char *path = path_join(folder, f->file[i].name);
        ok = file_put(path, staged[i], e);
        free(path);
        if (ok) {
            free(staged[i]);
            staged[i] = NULL;
        }
    }
    return ok;
}

bool kernel_files_write(const struct kernel_files *f, const char *folder, struct err *e)
{
    char **staged = mem_zero((size_t)f->count, sizeof *staged);
    bool ok = file_make_folders(folder, e) && stage_all(f, folder, staged, e) &&
              put_all(f, folder, staged, e);
    for (int i = 0; i < f->count; i++) {
        if (staged[i])
            unlink(staged[i]);
        free(staged[i]);
    }
    free(staged);
    return ok;
}

void kernel_files_finish(struct kernel_files *f)
{
    for (int i = 0; i < f->count; i++) {
        free(f->file[i].name);
        free(f->file[i].bytes);
    }
    free(f->file);
    *f = (struct kernel_files){0};
}
