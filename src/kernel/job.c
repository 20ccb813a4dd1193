#include "kernel/job.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void pass_add_given(const struct pass *p, struct str *out)
{
    const char *before = "";
    if (p->constant_count)
        str_add(out, "constants");
    for (int i = 0; i < p->constant_count; i++, before = "; ") {
        str_printf(out, " %" PRIu32 "=", p->constant[i].id);
        if (p->constant[i].is_bool)
            str_add(out, p->constant[i].value != 0 ? "true" : "false");
        else
            str_add_real(out, p->constant[i].value);
    }
    if (p->push_bytes)
        str_printf(out, "%spush constants", before);
    for (uint32_t at = 0; at < p->push_bytes; at += 4, before = "; ") {
        uint32_t word = 0;
        memcpy(&word, p->push + at, p->push_bytes - at < 4 ? p->push_bytes - at : 4);
        str_printf(out, " %" PRIu32, word);
    }
    if (p->binding_count)
        str_printf(out, "%sbuffers of bindings", before);
    for (int i = 0; i < p->binding_count; i++)
        str_printf(out, " %d", p->binding[i]);
}

struct pass *job_add_pass(struct job *j)
{
    j->pass = mem_resize(j->pass, (size_t)j->pass_count + 1, sizeof *j->pass);
    struct pass *p = &j->pass[j->pass_count++];
    *p = (struct pass){0};
    return p;
}

void job_finish(struct job *j)
{
    for (int i = 0; i < j->pass_count; i++) {
        free(j->pass[i].glsl);
        free(j->pass[i].template_name);
        free(j->pass[i].space_name);
        free(j->pass[i].line_map);
    }
    free(j->pass);
    *j = (struct job){0};
}
