#include "export/kernel_text.h"

#include "base/file.h"
#include "kernel/fit.h"
#include "script/texts.h"
#include "trial/helper_job.h"

#include <inttypes.h>
#include <stdlib.h>

#define COMPILE_SECONDS 60

static bool disassemble(struct kernel_text *k, struct err *e)
{
    struct spirv spirv[JOB_MAX_PASSES] = {{0}};
    bool ok = helper_job_compile(&k->job, COMPILE_SECONDS, spirv, e);
    for (int i = 0; i < k->job.pass_count; i++) {
        if (ok)
            k->assembly[i] = kernel_disassemble(&spirv[i], e);
        ok = ok && k->assembly[i];
        spirv_finish(&spirv[i]);
    }
    return ok;
}

bool kernel_text_make(struct script *s, const char *key, enum kernel_language language,
                      struct kernel_text *out, struct err *e)
{
    struct config config;
    *out = (struct kernel_text){.job = {0}};
    if (!config_parse_key(script_space(s), key, &config, e) ||
        !script_render(s, &config, &out->job, e))
        return false;
    if (language == KERNEL_GLSL || disassemble(out, e))
        return true;
    kernel_text_finish(out);
    return false;
}

const char *kernel_text_of(const struct kernel_text *k, int pass)
{
    return k->assembly[pass] ? k->assembly[pass] : k->job.pass[pass].glsl;
}

void kernel_text_add_head(const struct kernel_text *k, int pass, struct str *out)
{
    const uint32_t *groups = k->job.pass[pass].groups;
    uint32_t subgroup = k->job.pass[pass].subgroup;
    struct str given = {0};
    str_printf(out, "%s pass %d of %d: %" PRIu32 " x %" PRIu32 " x %" PRIu32 " workgroups",
               k->assembly[pass] ? ";" : "//", pass + 1, k->job.pass_count, groups[0], groups[1],
               groups[2]);
    if (subgroup)
        str_printf(out, ", subgroups of %" PRIu32, subgroup);
    pass_add_given(&k->job.pass[pass], &given);
    if (given.length)
        str_printf(out, "\n%s %s", k->assembly[pass] ? ";" : "//", str_text(&given));
    str_finish(&given);
    str_add(out, "\n");
}

void kernel_text_add(const struct kernel_text *k, struct str *out)
{
    for (int i = 0; i < k->job.pass_count; i++) {
        kernel_text_add_head(k, i, out);
        str_add(out, kernel_text_of(k, i));
    }
}

void kernel_text_finish(struct kernel_text *k)
{
    job_finish(&k->job);
    for (int i = 0; i < JOB_MAX_PASSES; i++)
        free(k->assembly[i]);
    *k = (struct kernel_text){.job = {0}};
}

bool kernel_text_changed(struct store *store, int64_t session, struct arena *a,
                         const char *const **out, struct err *e)
{
    struct text_record *text;
    int count, changed = 0;
    if (!store_get_texts(store, session, a, &text, &count, e))
        return false;
    const char **path = arena_zero(a, (size_t)count + 1, sizeof *path);
    for (int i = 0; i < count; i++) {
        const struct text_record *t = &text[i];
        char *now = NULL;
        size_t length;
        struct err ignored;
        // Only regular files are read: a read of another kind could block.
        bool same = file_is_regular(t->path) && file_read(t->path, &now, &length, &ignored) &&
                    (now = texts_from_bytes(t->path, now, length, &ignored)) &&
                    str_equal(now, t->text);
        free(now);
        if (!same)
            path[changed++] = t->path;
    }
    *out = path;
    return true;
}
