#include "cli/pareto.h"

#include "cli/common.h"
#include "engine/speed.h"
#include "report/pareto.h"
#include "report/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct reader {
    const struct session_record *session;
    struct pareto_point *point;
    int count, capacity;
};

static bool take_trial(void *context, const struct trial_record *t)
{
    struct reader *r = context;
    struct pareto_point p = {.ask = t->ask};
    if (speed_energy(r->session, t->clocks, t->seconds, &p.seconds, &p.joules)) {
        MEM_GROW(r->point, r->count, r->capacity);
        r->point[r->count++] = p;
    }
    return true;
}

static bool add_point(struct store *store, const struct pareto_point *p, struct arena *a,
                      int64_t session, struct json_writer *w, struct err *e)
{
    struct trial_record t;
    char time[32], energy[32], product[32];
    struct str config = {0};
    if (!store_get_trial(store, session, p->ask, a, &t, e))
        return false;
    if (w) {
        json_begin_object(w, NULL);
        json_add_int(w, "trial", t.number);
        json_add_real(w, "ms", p->seconds * 1e3);
        json_add_real(w, "joules", p->joules);
        json_add_raw(w, "config", t.config);
        json_end(w);
        return true;
    }
    printf("%6" PRId64 "  %9s  %9s  %11s  %s\n", t.number, text_time(p->seconds, time),
           text_cost(p->joules, "J", energy), text_cost(p->seconds * p->joules, "J s", product),
           text_config(t.config, &config));
    str_finish(&config);
    return true;
}

bool pareto_show(struct store *store, const struct session_record *r, bool json, struct arena *a,
                 struct err *e)
{
    struct reader all = {.session = r};
    struct str out = {0};
    struct json_writer w = {.out = &out};
    bool ok = store_each_numbered(store, r->id, 1, take_trial, &all, e);
    if (ok && !all.count)
        ok = err_set(e,
                     "session %" PRId64 " has no joules: they are measured with tune --objective, "
                     "where the device tells its power",
                     r->id);
    int measured = all.count;
    all.count = pareto_front(all.point, all.count);
    if (json) {
        w = json_begin(&out);
        json_add_int(&w, "session", r->id);
        json_add_int(&w, "measured", measured);
        json_begin_list(&w, "pareto");
    } else if (ok) {
        printf(" trial       time     energy      product  configuration\n");
    }
    for (int i = 0; ok && i < all.count; i++)
        ok = add_point(store, &all.point[i], a, r->id, json ? &w : NULL, e);
    if (ok && json)
        json_print(&w);
    else if (ok)
        printf("\n%d of %d trials: none is better in both time and energy\n", all.count, measured);
    str_finish(&out);
    free(all.point);
    return ok;
}
