#include "import/import.h"

#include "base/file.h"
#include "script/texts.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct import_format *const formats[] = {&import_gguf, &import_onnx, &import_perf_log};

enum { MOST_BEGIN = 1 << 20 };

// A pipe is not opened, since it can be read only once.
bool import_detect(const char *path, const struct import_format **out, struct err *e)
{
    *out = NULL;
    if (!file_is_regular(path))
        return true;
    FILE *file = fopen(path, "rbe");
    if (!file)
        return err_set(e, "cannot read '%s': %s", path, strerror(errno));
    char *begin = mem_alloc(MOST_BEGIN + 1);
    size_t length = fread(begin, 1, MOST_BEGIN, file);
    begin[length] = '\0';
    for (size_t i = 0; i < sizeof formats / sizeof *formats && !*out; i++)
        if (formats[i]->detects(begin, length))
            *out = formats[i];
    free(begin);
    fclose(file);
    return true;
}

bool import_run(const struct import_format *f, const struct import_request *r, struct imported *out,
                struct err *e)
{
    *out = (struct imported){0};
    arena_init(&out->arena);
    return f->imports(r, out, e) &&
           (out->text.length <= TEXTS_MAX_BYTES ||
            err_set(e, "%s: its network file would be larger than %d KiB, the most that is read",
                    r->path, TEXTS_MAX_BYTES >> 10));
}

bool imported_read(const struct imported *m, const char *file, struct network *out, struct err *e)
{
    static const char layers[] = "lua/layers.lua"; // the file that it may include
    char *path = path_shipped(layers), *text = NULL;
    size_t length;
    *out = (struct network){0};
    bool ok = path ? file_read(path, &text, &length, e) : err_set(e, "there is no %s", layers);
    const struct script_text texts[] = {{path_name(file), file, str_text(&m->text)},
                                        {layers, path, text}};
    const struct script_options o = {.path = file, .texts = texts, .text_count = 2};
    ok = ok && network_load(&o, out, e);
    free(path);
    free(text);
    return ok;
}

bool import_beside(struct imported *m, const char *path, struct err *e)
{
    m->beside = arena_strdup(&m->arena, path);
    if (!file_exists(path))
        return true;
    // A second name goes like any temporary file (base/file.h); an only one does not.
    m->former = arena_printf(&m->arena, "%s.%ld-0.tmp", path, (long)getpid());
    if (link(path, m->former) == 0)
        return true;
    m->former = arena_printf(&m->arena, "%s.%ld.former", path, (long)getpid());
    return rename(path, m->former) == 0 ||
           err_set(e, "cannot keep '%s' until it is replaced: %s", path, strerror(errno));
}

void imported_undo(struct imported *m)
{
    if (m->former && rename(m->former, m->beside) == 0)
        unlink(m->former); // rename leaves it where both are the same file
    else if (m->beside)
        unlink(m->beside);
    m->former = NULL;
}

void imported_finish(struct imported *m)
{
    if (m->former)
        unlink(m->former);
    str_finish(&m->text);
    free(m->note);
    arena_finish(&m->arena);
    *m = (struct imported){0};
}

bool import_may_write(struct imported *m, const struct import_request *r, double bytes,
                      struct err *e)
{
    m->constants_bytes = bytes;
    return !r->out || !r->most_bytes || bytes <= r->most_bytes ||
           err_set(e,
                   "its constants grow to %.3g GB, more than %.3g GB (--weights-limit GB allows"
                   " more, 0 any size)",
                   bytes * 1e-9, r->most_bytes * 1e-9);
}

void import_note(struct imported *m, const char *format, ...)
{
    char text[500];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    MEM_GROW(m->note, m->note_count, m->note_capacity);
    m->note[m->note_count++] = arena_strdup(&m->arena, text);
}

// --- words ---

char words_plain(char c)
{
    return isalnum((unsigned char)c) || c == '.' || c == '-' ? c : '_';
}

void words_add_plain(struct str *s, const char *text)
{
    enum { MOST = 80 };
    for (int i = 0; text[i] && i < MOST; i++)
        str_add_char(s, text[i] == ' ' ? ' ' : words_plain(text[i]));
}

const char *words_element(const char *type)
{
    return str_equal(type, "f32") || str_equal(type, "bf16") ? type : "f16";
}
