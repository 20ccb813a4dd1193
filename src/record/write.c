#include "record/format.h"

#include "base/file.h"
#include "record/flat.h"

static const struct format *const written[] = {&format_tilewalk, &format_kernel_tuner, &format_t4};

static const struct format *find(const char *name)
{
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        if (str_equal(written[i]->name, name))
            return written[i];
    return NULL;
}

// What others' formats have no words for.
static bool fits_others(const struct recording *r, const struct format *f, struct err *e)
{
    if (!str_equal(r->unit, "s"))
        return err_at(e, r->path, 0,
                      "'%s' is a format of times, and these are in %s (tilewalk's own has both)",
                      f->name, r->unit);
    return flat_check(r, e);
}

bool recording_write_as(const struct recording *r, const char *format, const char *path,
                        struct err *e)
{
    struct str out = {0};
    const struct format *f = find(format);
    if (!f)
        return err_set(e, "recordings are not written as '%s' (known: tilewalk, kernel-tuner, t4)",
                       format);
    if (r->count == 0)
        return err_at(e, r->path, 0, "there are only declarations: nothing to replay");
    if (f != &format_tilewalk && !fits_others(r, f, e))
        return false;
    struct json_writer w = json_begin(&out);
    f->write(r, &w);
    json_end_all(&w);
    str_add_char(&out, '\n');
    bool ok = file_write(path, str_text(&out), out.length, e);
    str_finish(&out);
    return ok;
}

bool recording_write(const struct recording *r, const char *path, struct err *e)
{
    return recording_write_as(r, format_tilewalk.name, path, e);
}
