#include "record/tilewalk.h"

#include "base/json.h"

#include <math.h>

static void add_edges(const struct param *p, struct json_writer *w)
{
    json_begin_list(w, "edges");
    for (int32_t i = 0; i < p->count; i++)
        for (int32_t k = p->edge_start[i]; k < p->edge_start[i + 1]; k++)
            if (i < p->edge[k])
                json_add_reals(w, NULL, 2, (double[]){i, p->edge[k]});
    json_end(w);
}

static void add_param(const struct param *p, struct json_writer *w)
{
    json_begin_object(w, NULL);
    json_add_text(w, "name", p->name);
    json_add_text(w, "kind", param_kind_name(p->kind));
    if (p->kind == PARAM_FACTORIZATION) {
        json_add_int(w, "product", p->product);
        json_add_int(w, "parts", p->width);
    } else {
        json_add_name(w, p->kind == PARAM_PERMUTATION ? "items" : "values");
        param_add_listed_json(p, w->out);
    }
    if (p->kind == PARAM_CUSTOM)
        add_edges(p, w);
    json_end(w);
}

static void add_seconds(struct json_writer *w, const char *name, double seconds)
{
    if (!isnan(seconds))
        json_add_real(w, name, seconds);
}

static void add_entry(const struct recording *r, int index, struct json_writer *w)
{
    const struct record_entry *entry = &r->entry[index];
    struct config c;
    recording_config(r, index, &c);
    json_begin_object(w, NULL);
    json_begin_list(w, "config");
    for (int i = 0; i < r->space->param_count; i++) {
        const struct param *p = &r->space->param[i];
        json_add_name(w, NULL);
        param_add_json(p, c.slot + p->offset, w->out);
    }
    json_end(w);
    json_add_text(w, "outcome", outcome_name(entry->outcome));
    if (entry->outcome == OUTCOME_OK)
        add_seconds(w, "seconds", entry->seconds);
    if (entry->run_count)
        json_add_reals(w, "runs", entry->run_count, entry->runs);
    add_seconds(w, "compile_s", entry->compile_s);
    add_seconds(w, "benchmark_s", entry->benchmark_s);
    json_end(w);
}

void tilewalk_write(const struct recording *r, struct json_writer *w)
{
    json_add_text(w, "format", TILEWALK_FORMAT);
    json_add_int(w, "version", TILEWALK_VERSION_OF_FORMAT);
    json_add_text(w, "name", r->name);
    json_add_text(w, "kernel", r->kernel);
    json_add_text(w, "device", r->device);
    json_add_text(w, "unit", r->unit);
    if (r->flop > 0)
        json_add_real(w, "flop", r->flop);
    json_begin_line(w, 0);
    json_begin_list(w, "params");
    for (int i = 0; i < r->space->param_count; i++) {
        json_begin_line(w, 1);
        add_param(&r->space->param[i], w);
    }
    json_end(w);
    json_begin_line(w, 0);
    json_begin_list(w, "entries");
    for (int i = 0; i < r->count; i++) {
        json_begin_line(w, 1);
        add_entry(r, i, w);
    }
}
