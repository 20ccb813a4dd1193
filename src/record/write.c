#include "record/tilewalk.h"

#include "base/file.h"

#include <math.h>

static void add_text(struct str *out, const char *name, const char *text)
{
    str_printf(out, ",\"%s\":", name);
    str_add_json(out, text);
}

static void add_edges(const struct param *p, struct str *out)
{
    const char *comma = "";
    str_add(out, ",\"edges\":[");
    for (int32_t i = 0; i < p->count; i++)
        for (int32_t k = p->edge_start[i]; k < p->edge_start[i + 1]; k++)
            if (i < p->edge[k]) {
                str_printf(out, "%s[%d,%d]", comma, (int)i, (int)p->edge[k]);
                comma = ",";
            }
    str_add(out, "]");
}

static void add_param(const struct param *p, struct str *out)
{
    str_add(out, "{\"name\":");
    str_add_json(out, p->name);
    add_text(out, "kind", param_kind_name(p->kind));
    if (p->kind == PARAM_FACTORIZATION) {
        str_printf(out, ",\"product\":%d,\"parts\":%d", (int)p->product, p->width);
    } else {
        str_add(out, p->kind == PARAM_PERMUTATION ? ",\"items\":" : ",\"values\":");
        param_add_listed_json(p, out);
    }
    if (p->kind == PARAM_CUSTOM)
        add_edges(p, out);
    str_add(out, "}");
}

static void add_seconds(struct str *out, const char *name, double seconds)
{
    if (isnan(seconds))
        return;
    str_printf(out, ",\"%s\":", name);
    str_add_real(out, seconds);
}

static void add_entry(const struct recording *r, int index, struct str *out)
{
    const struct record_entry *entry = &r->entry[index];
    struct config c;
    recording_config(r, index, &c);
    str_add(out, "{\"config\":[");
    for (int i = 0; i < r->space->param_count; i++) {
        const struct param *p = &r->space->param[i];
        str_add(out, i ? "," : "");
        param_add_json(p, c.slot + p->offset, out);
    }
    str_add(out, "]");
    add_text(out, "outcome", outcome_name(entry->outcome));
    if (entry->outcome == OUTCOME_OK)
        add_seconds(out, "seconds", entry->seconds);
    for (int i = 0; i < entry->run_count; i++) {
        str_add(out, i ? "," : ",\"runs\":[");
        str_add_real(out, entry->runs[i]);
    }
    str_add(out, entry->run_count ? "]" : "");
    add_seconds(out, "compile_s", entry->compile_s);
    add_seconds(out, "benchmark_s", entry->benchmark_s);
    str_add(out, "}");
}

bool recording_write(const struct recording *r, const char *path, struct err *e)
{
    struct str out = {0};
    if (r->count == 0)
        return err_at(e, r->path, 0, "there are only declarations: nothing to replay");
    str_printf(&out, "{\"format\":\"%s\",\"version\":%d", TILEWALK_FORMAT,
               TILEWALK_VERSION_OF_FORMAT);
    add_text(&out, "name", r->name);
    add_text(&out, "kernel", r->kernel);
    add_text(&out, "device", r->device);
    add_text(&out, "unit", r->unit);
    if (r->flop > 0) {
        str_add(&out, ",\"flop\":");
        str_add_real(&out, r->flop);
    }
    str_add(&out, ",\n\"params\":[");
    for (int i = 0; i < r->space->param_count; i++) {
        str_add(&out, i ? ",\n " : "\n ");
        add_param(&r->space->param[i], &out);
    }
    str_add(&out, "],\n\"entries\":[");
    for (int i = 0; i < r->count; i++) {
        str_add(&out, i ? ",\n " : "\n ");
        add_entry(r, i, &out);
    }
    str_add(&out, "]}\n");
    bool ok = file_write(path, str_text(&out), out.length, e);
    str_finish(&out);
    return ok;
}
