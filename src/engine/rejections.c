#include "engine/rejections.h"

#include <stdlib.h>

#define MOST_REASONS 5

static int reason_count(const struct space *space)
{
    return space->constraint_count + LIMIT_COUNT + 1;
}

void rejections_add(struct rejections *r, const struct space *space, const struct verdict *v)
{
    const int constraints = space->constraint_count;
    if (!r->by)
        r->by = mem_zero((size_t)reason_count(space), sizeof *r->by);
    r->all++;
    if (!v)
        r->by[constraints + LIMIT_COUNT]++;
    else if (v->constraint >= 0)
        r->by[v->constraint]++;
    for (int l = 0; v && v->constraint < 0 && l < LIMIT_COUNT; l++)
        r->by[constraints + l] += v->limits >> l & 1;
}

static void add_reason(const struct space *space, int i, struct str *out)
{
    const int constraints = space->constraint_count;
    if (i < constraints)
        str_printf(out, "'%s'", space->constraint[i].name);
    else if (i < constraints + LIMIT_COUNT)
        str_add(out, limit_name((enum limit)(i - constraints)));
    else
        str_add(out, "what the compiled shader needs");
}

void rejections_add_text(struct rejections *r, const struct space *space, struct str *out)
{
    for (int said = 0; r->by && said < MOST_REASONS; said++) {
        int top = 0;
        for (int i = 1; i < reason_count(space); i++)
            top = r->by[i] > r->by[top] ? i : top;
        if (!r->by[top])
            return;
        str_add(out, said ? ", " : ": ");
        add_reason(space, top, out);
        str_printf(out, " removes %.3g %%", 100.0 * (double)r->by[top] / (double)r->all);
        r->by[top] = 0; // said
    }
}

void rejections_finish(struct rejections *r)
{
    free(r->by);
    *r = (struct rejections){.by = NULL};
}
