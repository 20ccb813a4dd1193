#include "export/evidence.h"

#include "base/shown.h"
#include "report/text.h"

bool evidence_read(struct store *s, const struct session_record *r, int64_t ask, struct arena *a,
                   struct evidence *out, struct err *e)
{
    struct session_record own = *r;
    *out = (struct evidence){.shapes.worst = -1};
    if (!store_get_trial(s, r->id, ask, a, &out->trial, e) ||
        !store_get_race(s, r->id, ask, a, &out->race, e) ||
        !store_get_baselines(s, r->id, a, &out->baselines, e))
        return false;
    if (ask != r->best_ask)
        own.best_seconds = out->race.ask ? out->race.seconds : out->trial.seconds;
    shape_table_read(&own, &(struct shape_findings){&out->trial, &out->race, &out->baselines}, a,
                     &out->shapes);
    return true;
}

const char *evidence_checks(const struct evidence *v)
{
    return v->race.ask && v->race.verified
               ? "the whole result was right in the search, and again on random inputs after the "
                 "last race"
               : "the whole result was right in the search";
}

// What drivers and other people's files say may have anything in it.
static void add_words(struct str *out, const char *text)
{
    struct str shown = {0};
    shown_add(&shown, text);
    str_add_markdown(out, str_text(&shown));
    str_finish(&shown);
}

void evidence_add_shapes(const struct evidence *v, struct str *out)
{
    char time[32], in_use[32];
    const struct shape_table *t = &v->shapes;
    if (v->baselines.count == 0 && t->count == 1)
        return;
    str_add(
        out,
        "\n| shape | in use | takes | the best takes | times as fast |\n|---|---|---|---|---|\n");
    for (int i = 0; i < t->count; i++) {
        const struct shape_row *r = &t->row[i];
        const char *worst = i == t->worst && t->count > 1 ? " (the worst)" : "";
        str_add(out, "| ");
        add_words(out, r->name);
        str_add(out, " | ");
        add_words(out, r->baseline ? r->baseline : "-");
        str_printf(out, " | %s | %s | ", r->baseline ? text_time(r->baseline_s, in_use) : "-",
                   r->seconds > 0 ? text_time(r->seconds, time) : "-");
        if (r->baseline && r->seconds > 0)
            str_printf(out, "%.2f%s |\n", shape_ratio(r), worst);
        else
            str_add(out, "- |\n");
    }
}

static void add_configuration(struct str *out, const char *name, const char *config)
{
    struct str text = {0};
    const char *values = text_config(config, &text);
    str_add(out, "* ");
    add_words(out, name);
    str_add(out, ": ");
    add_words(out, *values ? values : "no configuration of this space");
    str_finish(&text);
}

static void add_configurations(const struct evidence *v, struct str *out)
{
    char time[32];
    add_configuration(out, "found", v->trial.config);
    for (int i = 0; i < v->baselines.count; i++) {
        const struct baseline_record *b = &v->baselines.of[i];
        str_add_char(out, '\n');
        add_configuration(out, b->name, b->config);
        if (b->outcome == OUTCOME_OK) {
            str_printf(out, ": %s", text_time(baseline_seconds(b), time));
        } else {
            str_printf(out, ": does not run here, %s (", outcome_name(b->outcome));
            add_words(out, b->reason ? b->reason : "");
            str_add_char(out, ')');
        }
    }
    str_add_char(out, '\n');
}

void evidence_add(const struct evidence *v, const struct session_record *r, struct str *out)
{
    if (str_equal(r->source, "device")) {
        str_add(out, "Measured on ");
        add_words(out, r->device);
        str_add(out, "; driver: ");
        add_words(out, r->driver);
        str_printf(out, ". Verified: %s.\n", evidence_checks(v));
    } else {
        str_add(out, "Not measured, and not verified: the times are those of ");
        add_words(out, r->source);
        str_add(out, ".\n");
    }
    evidence_add_shapes(v, out);
    str_add_char(out, '\n');
    add_configurations(v, out);
}
