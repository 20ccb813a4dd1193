#include "figure_doc.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#define MARK_START "<!-- "
#define MARK_FILE  ".md -->\n"
#define MARK_END   "<!-- end -->"
#define PICTURE    "](figures/"

static char *read_whole(const char *path)
{
    struct err e;
    char *text;
    size_t length;
    if (!file_read(path, &text, &length, &e))
        bench_fail(path, &e);
    return text;
}

static void write_whole(const char *path, const char *text)
{
    struct err e;
    if (!file_write(path, text, strlen(text), &e))
        bench_fail(path, &e);
}

// The next mark of a file from `at` on: its name (the caller's), and where what it holds begins.
static char *next_mark(const char *at, const char **inside)
{
    for (; (at = strstr(at, MARK_START)); at++) {
        const char *name = at + strlen(MARK_START), *stop = strstr(name, MARK_FILE);
        size_t length = stop ? (size_t)(stop - name) : 0;
        if (stop && memchr(name, '\n', length) == NULL) {
            *inside = stop + strlen(MARK_FILE);
            return mem_printf("%.*s.md", (int)length, name);
        }
    }
    return NULL;
}

struct filling {
    const char *folder;       // of all tables, or
    const char *only, *table; // the one mark, and what it is to hold
};

// Heap; NULL: what the mark holds stays.
static char *table_of(const struct filling *f, const char *name)
{
    if (f->only)
        return str_equal(f->only, name) ? mem_strdup(f->table) : NULL;
    char *path = path_join(f->folder, name), *table = read_whole(path);
    free(path);
    return table;
}

// Returns how many marks were filled.
static int fill_marks(const char *text, const struct filling *f, struct str *out)
{
    const char *inside;
    int filled = 0;
    for (char *name; (name = next_mark(text, &inside)); free(name)) {
        const char *end = strstr(inside, MARK_END);
        if (!end)
            bench_fail(name, &(struct err){.text = "its mark has no end"});
        char *table = table_of(f, name);
        filled += table != NULL;
        str_add_bytes(out, text, (size_t)((table ? inside : end) - text));
        str_add(out, table ? table : "");
        text = end;
        free(table);
    }
    str_add(out, text);
    return filled;
}

static void copy_pictures(const char *text, const char *folder, const char *beside)
{
    while ((text = strstr(text, PICTURE))) {
        text += strlen(PICTURE);
        char *name = mem_printf("%.*s", (int)strcspn(text, ")"), text);
        char *from = path_join(folder, name), *to = mem_printf("%s/figures/%s", beside, name);
        char *picture = read_whole(from);
        write_whole(to, picture);
        free(picture);
        free(to);
        free(from);
        free(name);
    }
}

void figure_doc_fill(const char *page, const char *folder)
{
    char *text = read_whole(page), *beside = path_folder(page);
    struct str out = {0};
    fill_marks(text, &(struct filling){.folder = folder}, &out);
    write_whole(page, str_text(&out));
    copy_pictures(str_text(&out), folder, beside);
    str_finish(&out);
    free(beside);
    free(text);
}

void figure_doc_fill_one(const char *page, const char *name, const char *table)
{
    char *text = read_whole(page);
    struct str out = {0};
    if (!fill_marks(text, &(struct filling){.only = name, .table = table}, &out))
        bench_fail(page, &(struct err){.text = "it has no mark for the table"});
    write_whole(page, str_text(&out));
    str_finish(&out);
    free(text);
}
