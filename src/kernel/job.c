#include "kernel/job.h"

#include "base/str.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void job_finish(struct job *j)
{
    for (int i = 0; i < j->pass_count; i++) {
        free(j->pass[i].glsl);
        free(j->pass[i].template_name);
        free(j->pass[i].line_map);
    }
    *j = (struct job){0};
}

// Each text is preceded by its length, so that no two jobs write the same bytes.
void job_hash(const struct job *j, char out[33])
{
    struct str s = {0};
    str_printf(&s, "%d %" PRIu64 "\n", j->pass_count, j->scratch_bytes);
    for (int i = 0; i < j->pass_count; i++) {
        const struct pass *p = &j->pass[i];
        str_printf(&s, "%" PRIu32 " %" PRIu32 " %" PRIu32 " %zu\n", p->groups[0], p->groups[1],
                   p->groups[2], strlen(p->glsl));
        str_add(&s, p->glsl);
        if (p->subgroup)
            str_printf(&s, "\nsubgroup %" PRIu32 "\n", p->subgroup);
    }
    hash_hex(str_text(&s), s.length, out);
    str_finish(&s);
}
