#include "engine/shape_table.h"

#include "base/json_read.h"
#include "base/shown.h"
#include "engine/speed.h"
#include "report/text.h"

#include <math.h>
#include <string.h>

int shape_parts(const char *parts, double out[TRIAL_MAX_SHAPES])
{
    struct json root;
    int count = 0;
    memset(out, 0, TRIAL_MAX_SHAPES * sizeof *out);
    if (!json_parse(parts, &root))
        return 0;
    for (struct json_walk w = json_walk(root); json_next(&w) && count < TRIAL_MAX_SHAPES; count++)
        if (!json_number(w.value, &out[count]) || out[count] < 0)
            out[count] = 0;
    return count;
}

static void read_rows(const struct session_record *r, struct arena *a, struct shape_table *t)
{
    struct json root;
    if (!json_parse(r->shapes, &root)) {
        t->row[t->count++] = (struct shape_row){.name = r->title, .weight = 1};
        return;
    }
    for (struct json_walk w = json_walk(json_member(root, "shapes"));
         json_next(&w) && t->count < TRIAL_MAX_SHAPES;) {
        struct shape_row *row = &t->row[t->count++];
        row->name = "";
        for (struct json_walk s = json_walk(json_member(w.value, "set")); json_next(&s);) {
            const char *value = json_text(s.value, a);
            row->name = arena_printf(a, "%s%s%s=%s", row->name, *row->name ? " " : "",
                                     json_text(s.key, a), value ? value : "?");
        }
        json_number(json_member(w.value, "weight"), &row->weight);
    }
}

void shape_table_read(const struct session_record *r, const struct shape_findings *f,
                      struct arena *a, struct shape_table *out)
{
    double part_s[TRIAL_MAX_SHAPES] = {0};
    const struct baseline_record *baseline[TRIAL_MAX_SHAPES] = {NULL};
    *out = (struct shape_table){.worst = -1};
    read_rows(r, a, out);
    for (int i = 0; i < f->baselines->count; i++) {
        const struct baseline_record *b = &f->baselines->of[i];
        if (b->outcome != OUTCOME_OK)
            continue;
        memset(part_s, 0, sizeof part_s);
        if (r->shapes)
            shape_parts(b->parts, part_s);
        else
            part_s[0] = baseline_seconds(b);
        for (int k = 0; k < out->count; k++) {
            struct shape_row *row = &out->row[k];
            if (part_s[k] > 0 && (!row->baseline || part_s[k] < row->baseline_s)) {
                row->baseline = b->name;
                row->baseline_s = part_s[k];
                baseline[k] = b;
            }
        }
    }
    memset(part_s, 0, sizeof part_s);
    if (!r->shapes)
        part_s[0] = f->best->ask ? r->best_seconds : 0;
    else if (f->best->ask)
        shape_parts(f->race->ask ? f->race->parts : f->best->parts, part_s);
    for (int i = 0; i < out->count; i++) {
        struct shape_row *row = &out->row[i];
        row->seconds = part_s[i];
        if (r->shapes && baseline[i])
            row->ratio = speed_paired_on(r, baseline[i], i, row->baseline_s, row->seconds);
        else
            row->ratio = speed_paired(r, baseline[i], row->seconds);
        if (!isnan(row->ratio.ratio) &&
            (out->worst < 0 || row->ratio.ratio < out->row[out->worst].ratio.ratio))
            out->worst = i;
    }
}

void shape_table_add_text(const struct shape_table *t, struct str *out)
{
    int widest = 0;
    for (int i = 0; i < t->count; i++)
        widest = (int)strlen(t->row[i].name) > widest ? (int)strlen(t->row[i].name) : widest;
    for (int i = 0; t->count > 1 && i < t->count; i++) {
        bool is_first = i == 0;
        char time[32];
        size_t before = out->length;
        str_add(out, is_first ? "shapes   " : "         ");
        shown_add(out, t->row[i].name);
        while (out->length - before < (size_t)widest + 9)
            str_add_char(out, ' ');
        str_printf(out, "  %9s", t->row[i].seconds > 0 ? text_time(t->row[i].seconds, time) : "-");
        if (t->row[i].baseline) {
            str_printf(out, "  %s in '", text_time(t->row[i].baseline_s, time));
            shown_add(out, t->row[i].baseline);
            str_add(out, "'  ");
            speed_add_ratio(&t->row[i].ratio, out);
        }
        str_add_char(out, '\n');
    }
    if (t->count < 2 || t->worst < 0)
        return;
    const struct shape_row *worst = &t->row[t->worst];
    str_add(out, "         worst: ");
    shown_add(out, worst->name);
    str_add(out, ", ");
    speed_add_ratio(&worst->ratio, out);
    str_add_char(out, '\n');
}

void shape_table_add_json(const struct shape_table *t, const char *name, struct json_writer *w)
{
    json_begin_list(w, name);
    for (int i = 0; i < t->count; i++) {
        const struct shape_row *r = &t->row[i];
        json_begin_object(w, NULL);
        json_add_text(w, "name", r->name);
        json_add_real(w, "weight", r->weight);
        json_add_real(w, "ms", r->seconds > 0 ? r->seconds * 1e3 : NAN);
        json_add_text(w, "baseline", r->baseline);
        json_add_real(w, "baseline_ms", r->baseline ? r->baseline_s * 1e3 : NAN);
        speed_add_ratio_json(&r->ratio, w);
        json_add_flag(w, "worst", i == t->worst);
        json_end(w);
    }
    json_end(w);
}
