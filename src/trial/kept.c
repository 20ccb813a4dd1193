#include "trial/kept.h"

#include "base/mem.h"
#include "base/str.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void hash_job(const struct job *j, char out[33])
{
    struct str texts = {0};
    for (int i = 0; i < j->pass_count; i++) {
        str_printf(&texts, "%" PRIu32 " ", j->pass[i].subgroup);
        pass_add_given(&j->pass[i], &texts);
        str_printf(&texts, " %s\n", j->pass[i].glsl);
    }
    hash_hex(str_text(&texts), texts.length, out);
    str_finish(&texts);
}

static void forget_first(struct kept_list *l)
{
    l->bytes -= l->item[0].made.size;
    gpu_kept_finish(&l->item[0].made);
    memmove(l->item, l->item + 1, (size_t)--l->count * sizeof *l->item);
}

void kept_add(struct kept_list *l, const struct job *j, struct gpu_kept *made, double seconds)
{
    MEM_GROW(l->item, l->count, l->capacity);
    struct kept *added = &l->item[l->count++];
    *added = (struct kept){.made = *made, .seconds = seconds};
    *made = (struct gpu_kept){0};
    hash_job(j, added->job);
    l->bytes += added->made.size;
    while (l->bytes > KEPT_MOST_BYTES)
        forget_first(l);
}

const struct kept *kept_find(const struct kept_list *l, const struct job *j)
{
    char wanted[33];
    int i = l->count;
    if (i > 0)
        hash_job(j, wanted);
    while (--i >= 0 && strcmp(l->item[i].job, wanted) != 0)
        continue;
    return i < 0 ? NULL : &l->item[i];
}

void kept_finish(struct kept_list *l)
{
    while (l->count > 0)
        forget_first(l);
    free(l->item);
    *l = (struct kept_list){0};
}
