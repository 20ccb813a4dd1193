#include "cli/refit_list.h"

#include "cli/common.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bool add(void *context, const struct refit_record *r)
{
    struct refit_list *l = context;
    MEM_GROW(l->refit, l->count, l->capacity);
    l->refit[l->count++] = *r;
    return true;
}

bool refit_list_read(struct refit_list *l, struct store *store, int64_t session, struct err *e)
{
    return store_each_refit(store, session, add, l, e);
}

void refit_list_finish(struct refit_list *l)
{
    free(l->refit);
    *l = (struct refit_list){0};
}

// --- for people ---

// "0.61", or "-" where there was nothing to judge it by.
static const char *correlation_text(const struct refit_record *r, char out[32])
{
    snprintf(out, 32, isfinite(r->correlation) ? "%.2f" : "-", r->correlation);
    return out;
}

static const char *recall_text(const struct refit_record *r, char out[32])
{
    if (isfinite(r->recall))
        snprintf(out, 32, "%.0f of %d", r->recall * r->k, r->k);
    else
        snprintf(out, 32, "-");
    return out;
}

void refit_list_add_table(const struct refit_list *l, struct str *out)
{
    char at[32], correlation[32], recall[32];
    if (l->count)
        str_printf(out, "%5s  %8s  %7s  %8s  %6s  %16s  %8s  %7s  %7s\n", "refit", "after",
                   "results", "rows", "batch", "rank correlation", "recall", "seconds", "MiB");
    for (int i = 0; i < l->count; i++) {
        const struct refit_record *r = &l->refit[i];
        str_printf(out,
                   "%5" PRId64 "  %8s  %7" PRId64 "  %8" PRId64 "  %6d  %16s  %8s  %7.2f  %7.2f\n",
                   r->number, text_duration(r->elapsed_s, at), r->told, r->rows, r->batch,
                   correlation_text(r, correlation), recall_text(r, recall), r->seconds,
                   r->bytes / (1 << 20));
    }
}

void refit_list_add_summary(const struct refit_list *l, struct str *out)
{
    char text[32];
    if (!l->count)
        return;
    const struct refit_record *last = &l->refit[l->count - 1];
    str_printf(out, "model    fitted %d time%s, last to %" PRId64 " results", l->count,
               l->count == 1 ? "" : "s", last->told);
    if (isfinite(last->correlation))
        str_printf(out, "  rank correlation %s", correlation_text(last, text));
    if (isfinite(last->recall))
        str_printf(out, "  recall %s", recall_text(last, text));
    str_printf(out, "  %.2g s  (--refits lists all)\n", last->seconds);
}

// --- JSON (docs/json.md) ---

void refit_list_add_json(const struct refit_list *l, struct json_writer *w)
{
    json_begin_list(w, "refits");
    for (int i = 0; i < l->count; i++) {
        const struct refit_record *r = &l->refit[i];
        json_begin_object(w, NULL);
        json_add_int(w, "refit", r->number);
        json_add_int(w, "told", r->told);
        json_add_int(w, "rows", r->rows);
        json_add_int(w, "batch", r->batch);
        json_add_int(w, "k", r->k);
        json_add_real(w, "correlation", r->correlation);
        json_add_real(w, "recall", r->recall);
        json_add_real(w, "seconds", r->seconds);
        json_add_real(w, "bytes", r->bytes);
        json_add_real(w, "elapsed_s", r->elapsed_s);
        json_end(w);
    }
    json_end(w);
}
