#include "cli/trial_list.h"

#include "cli/common.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void trial_list_init(struct trial_list *l, const struct session_record *session,
                     enum list_format format, enum list_order order)
{
    *l = (struct trial_list){.session = session, .format = format, .order = order};
    arena_init(&l->arena);
}

void trial_list_finish(struct trial_list *l)
{
    arena_finish(&l->arena);
    free(l->row);
    free(l->race);
    str_finish(&l->head);
}

static bool keep_race(void *context, const struct retime_record *r)
{
    struct trial_list *l = context;
    MEM_GROW(l->race, l->races, l->race_capacity);
    struct retime_record *kept = &l->race[l->races++];
    *kept = *r;
    kept->samples = r->samples ? arena_strdup(&l->arena, r->samples) : NULL;
    return true;
}

bool trial_list_read_races(struct trial_list *l, struct store *store, struct err *e)
{
    return store_each_race(store, l->session->id, keep_race, l, e);
}

// --- one trial ---

static void add_field(struct str *out, const char *text)
{
    str_add_char(out, ',');
    str_add_csv(out, text);
}

static void add_csv_params(const char *config, bool names, struct str *out)
{
    struct str name = {0}, value = {0};
    struct json_walk params = text_params(config);
    while (text_next_param(&params, &name, &value))
        add_field(out, str_text(names ? &name : &value));
    str_finish(&name);
    str_finish(&value);
}

// Returns true where speeds are not rated in FLOP.
static bool has_other_rate(const struct trial_list *l)
{
    return !str_equal(speed_work(l->session).unit, WORK_FLOP);
}

static void add_csv_head(struct trial_list *l, const char *config)
{
    str_add(&l->head, "number,ask,generation,outcome,seconds,tflops");
    add_csv_params(config, true, &l->head);
    str_add(&l->head, ",reason,samples,race_seconds");
    if (has_other_rate(l))
        add_field(&l->head, speed_rate_word(l->session));
}

static void add_csv(const struct trial_list *l, const struct trial_record *t,
                    const struct retime_record *race, struct str *out)
{
    str_printf(out, "%" PRId64 ",%" PRId64 ",%d,%s,", t->number, t->ask, t->generation,
               outcome_name(t->outcome));
    if (t->seconds > 0)
        str_add_real(out, t->seconds);
    str_add_char(out, ',');
    double tflops = speed_tflops(l->session, t->seconds);
    if (!isnan(tflops))
        str_add_real(out, tflops);
    add_csv_params(t->config, false, out);
    add_field(out, t->reason ? t->reason : "");
    // Writes "[0.5,0.25]" without the brackets.
    char *samples = mem_strdup(t->samples && *t->samples == '[' ? t->samples + 1 : "");
    samples[strcspn(samples, "]")] = '\0';
    add_field(out, samples);
    free(samples);
    str_add_char(out, ',');
    if (race && race->verified)
        str_add_real(out, race->seconds);
    if (has_other_rate(l))
        str_add_char(out, ',');
    if (has_other_rate(l) && t->seconds > 0)
        str_add_real(out, speed_rate(l->session, t->seconds));
}

void trial_list_add(struct trial_list *l, const struct trial_record *t)
{
    struct str text = {0};
    const struct retime_record *race = NULL; // that ranks the trial
    for (int i = 0; i < l->races && !race && t->outcome == OUTCOME_OK; i++)
        if (l->race[i].ask == t->ask)
            race = &l->race[i];
    if (l->format == LIST_CSV && !l->head.length)
        add_csv_head(l, t->config);
    switch (l->format) {
    case LIST_TEXT: {
        char number[32], speed[32] = "-", time[32] = "-";
        struct str config = {0}, reason = {0};
        bool raced = race && race->verified;
        double seconds = raced ? race->seconds : t->seconds;
        shown_add(&reason, race && !raced ? "wrong in its race" : t->reason ? t->reason : "");
        if (seconds > 0) {
            speed_text(l->session, seconds, speed);
            speed_time(l->session, seconds, time);
        }
        snprintf(number, sizeof number, t->number ? "%" PRId64 : "ask %" PRId64,
                 t->number ? t->number : t->ask); // for show --trial
        str_printf(&text, "%6s  %4d  %-8s  %12s  %9s  %s%s%s\n", number, t->generation,
                   raced ? "raced" : outcome_name(t->outcome), speed, time,
                   text_config(t->config, &config), reason.length ? "  " : "", str_text(&reason));
        str_finish(&config);
        str_finish(&reason);
    } break;
    case LIST_JSON: {
        struct json_writer w = json_begin(&text);
        json_trial(&w, l->session, t, race);
        json_end(&w);
    } break;
    case LIST_CSV: add_csv(l, t, race, &text); break;
    }
    MEM_GROW(l->row, l->count, l->capacity);
    struct trial_row *row = &l->row[l->count++];
    *row = (struct trial_row){.ask = t->ask}; // which decides where keys are equal
    if (l->order == ORDER_NUMBER)
        row->key = (double)t->told;
    else if (l->order == ORDER_ELAPSED)
        row->key = t->elapsed_s;
    else if (l->order == ORDER_SPEED) {
        row->behind = !race || !race->verified;
        row->key = race             ? row->behind ? INFINITY : race->seconds
                   : t->seconds > 0 ? t->seconds
                                    : INFINITY;
    }
    row->text = arena_strdup(&l->arena, str_text(&text));
    if (l->format == LIST_CSV && t->statistics)
        row->statistics = arena_strdup(&l->arena, t->statistics);
    str_finish(&text);
}

// --- all of them ---

static int compare_rows(const void *a, const void *b)
{
    const struct trial_row *x = a, *y = b;
    if (x->behind != y->behind)
        return x->behind ? 1 : -1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->ask > y->ask) - (x->ask < y->ask);
}

static int64_t sort_first(struct trial_list *l, int64_t most)
{
    if (l->count)
        qsort(l->row, (size_t)l->count, sizeof *l->row, compare_rows);
    return most > 0 && most < l->count ? most : l->count;
}

void trial_list_add_text(struct trial_list *l, int64_t most, struct str *out)
{
    int64_t n = sort_first(l, most);
    if (l->format == LIST_CSV) {
        if (!l->head.length)
            add_csv_head(l, "{}");
        // Either all lines have the column of statistics, or none has.
        bool has_statistics = false;
        for (int64_t i = 0; i < l->count; i++)
            has_statistics |= l->row[i].statistics != NULL;
        str_printf(out, "%s%s\r\n", str_text(&l->head), has_statistics ? ",statistics" : "");
        for (int64_t i = 0; i < n; i++) {
            str_add(out, l->row[i].text);
            if (has_statistics)
                add_field(out, l->row[i].statistics ? l->row[i].statistics : "");
            str_add(out, "\r\n");
        }
        return;
    }
    if (n > 0) {
        str_printf(&l->head, "%6s  %4s  %-8s  %12s  %9s  %s\n", "trial", "gen", "outcome", "speed",
                   "time", "configuration, and the reason of a failure");
    }
    str_add(out, str_text(&l->head));
    for (int64_t i = 0; i < n; i++)
        str_add(out, l->row[i].text);
}

void trial_list_add_json(struct trial_list *l, int64_t most, struct json_writer *w)
{
    int64_t n = sort_first(l, most);
    json_begin_list(w, "trials");
    for (int64_t i = 0; i < n; i++)
        json_add_raw(w, NULL, l->row[i].text);
    json_end(w);
}
