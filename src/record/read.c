#include "record/format.h"
#include "record/unpack.h"

#include <stdlib.h>
#include <string.h>

// T4 comes last of those with results: the other two say more of themselves.
static const struct format *const formats[] = {
    &format_tilewalk, &format_kernel_tuner, &format_clblast, &format_ktt, &format_t4, &format_t1,
};
enum { FORMATS = sizeof formats / sizeof *formats, NEEDS = 2 };

static const struct format *recognise(struct json root)
{
    bool has[FORMATS][NEEDS] = {{false}};
    for (struct json_walk w = json_walk(root); json_next(&w);)
        for (int f = 0; f < FORMATS; f++)
            for (int i = 0; i < NEEDS; i++)
                has[f][i] |= formats[f]->members[i] && json_is(w.key, formats[f]->members[i]);
    for (int f = 0; f < FORMATS; f++)
        if (has[f][0] && (has[f][1] || !formats[f]->members[1]))
            return formats[f];
    return NULL;
}

// A file that ended early is fine when it ended inside the member that its format leaves open.
static bool may_be_open(const struct format *f, struct json root)
{
    bool last = false;
    for (struct json_walk w = json_walk(root); f && f->open && json_next(&w);)
        last = json_is(w.key, f->open);
    return last;
}

static bool unknown(const char *path, struct json root, struct err *e)
{
    struct str known = {0};
    for (int f = 0; f < FORMATS; f++)
        str_printf(&known, "%s%s", f ? ", " : "", formats[f]->what);
    err_at(e, path, root.line, "not a recording (known are: %s)", str_text(&known));
    str_finish(&known);
    return false;
}

static bool is_object(const struct json_source *s, struct err *e)
{
    const char *first = s->text + strspn(s->text, " \t\r\n");
    return *first == '{' || err_at(e, s->path, 1, "not a recording: it is %s",
                                   s->length == 0  ? "empty"
                                   : *first == '[' ? "a JSON list, not an object"
                                                   : "neither JSON nor gzip nor xz, whatever its "
                                                     "name says");
}

static bool read_text(struct json_source *s, struct recording **out, struct err *e)
{
    struct json root;
    if (!is_object(s, e) || !json_check(s, &root, e))
        return false;
    const struct format *f = recognise(root);
    if (s->unclosed && !may_be_open(f, root))
        return err_at(e, s->path, s->unclosed, "broken JSON: the file ends early (is it cut off?)");
    if (!f)
        return unknown(s->path, root, e);
    struct recording *r = recording_create(s->path, f->name);
    if (!f->read(r, root, e)) {
        recording_destroy(r);
        return false;
    }
    *out = r;
    return true;
}

bool recording_read(const char *path, struct recording **out, struct err *e)
{
    struct json_source s = {.path = path};
    char *text;
    if (!unpack_file(path, &unpack_standard, &text, &s.length, e))
        return false;
    s.text = text;
    s.room = text + s.length;
    bool ok = read_text(&s, out, e);
    free(text);
    return ok;
}
