#include "cli/trial_list.h"

#include "cli/common.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const order_words[] = {"ask", "number", "speed", "elapsed"};

bool list_order_parse(const char *word, enum list_order *out, struct err *e)
{
    for (int i = ORDER_NUMBER; i <= ORDER_ELAPSED; i++)
        if (str_equal(word, order_words[i])) {
            *out = (enum list_order)i;
            return true;
        }
    return err_usage(e, "unknown order '%s' (there are number, speed, elapsed)", word);
}

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

// NULL: it was in none that says anything of its rank.
static const struct retime_record *race_of(const struct trial_list *l, const struct trial_record *t)
{
    for (int i = 0; i < l->races; i++)
        if (l->race[i].ask == t->ask && t->outcome == OUTCOME_OK)
            return &l->race[i];
    return NULL;
}

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

static bool is_rated_otherwise(const struct trial_list *l)
{
    return !str_equal(speed_work(l->session).unit, WORK_FLOP);
}

static void add_csv_head(const struct trial_list *l, const char *config, struct str *out)
{
    str_add(out, "number,ask,generation,outcome,seconds,tflops");
    add_csv_params(config, true, out);
    str_add(out, ",reason,samples,race_seconds");
    if (is_rated_otherwise(l))
        add_field(out, speed_rate_word(l->session));
}

static void add_csv(const struct trial_list *l, const struct trial_record *t,
                    const struct retime_record *race, struct str *out)
{
    str_printf(out, "%" PRId64 ",%" PRId64 ",%d,%s,", t->number, t->ask, t->generation,
               outcome_name(t->outcome));
    if (t->seconds > 0)
        str_add_real(out, t->seconds);
    str_add_char(out, ',');
    if (t->seconds > 0)
        str_add_real(out, l->session->flop / t->seconds / 1e12);
    add_csv_params(t->config, false, out);
    add_field(out, t->reason ? t->reason : "");
    // "[0.5,0.25]" becomes the list that it holds.
    char *samples = mem_strdup(t->samples && *t->samples == '[' ? t->samples + 1 : "");
    samples[strcspn(samples, "]")] = '\0';
    add_field(out, samples);
    free(samples);
    str_add_char(out, ',');
    if (race && race->verified)
        str_add_real(out, race->seconds);
    if (is_rated_otherwise(l))
        str_add_char(out, ',');
    if (is_rated_otherwise(l) && t->seconds > 0)
        str_add_real(out, speed_rate(l->session, t->seconds));
}

static struct trial_row row_of(enum list_order order, const struct trial_record *t,
                               const struct retime_record *race)
{
    struct trial_row row = {.ask = t->ask};
    switch (order) {
    case ORDER_ASK: break; // that is sorted by last
    case ORDER_NUMBER: row.key = (double)t->told; break;
    case ORDER_SPEED:
        row.behind = !race || !race->verified;
        row.key = race             ? row.behind ? INFINITY : race->seconds
                  : t->seconds > 0 ? t->seconds
                                   : INFINITY;
        break;
    case ORDER_ELAPSED: row.key = t->elapsed_s; break;
    }
    return row;
}

void trial_list_add(struct trial_list *l, const struct trial_record *t)
{
    struct str text = {0};
    const struct retime_record *race = race_of(l, t);
    if (l->format == LIST_CSV && !l->head.length)
        add_csv_head(l, t->config, &l->head);
    switch (l->format) {
    case LIST_TEXT: {
        char number[32], speed[32] = "-", time[32] = "-";
        struct str config = {0}, reason = {0};
        bool raced = race && race->verified;
        double seconds = raced ? race->seconds : t->seconds;
        shown_add(&reason, race && !raced ? "wrong in its race" : t->reason ? t->reason : "");
        if (seconds > 0) {
            speed_text(l->session, seconds, speed);
            text_time(seconds, time);
        }
        snprintf(number, sizeof number, t->number ? "%" PRId64 : "ask %" PRId64,
                 t->number ? t->number : t->ask); // what finds it: show --trial, or --ask
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
    *row = row_of(l->order, t, race);
    row->text = arena_strdup(&l->arena, str_text(&text));
    if (l->format == LIST_CSV && t->statistics)
        row->statistics = arena_strdup(&l->arena, t->statistics);
    str_finish(&text);
}

// --- all of them ---

static int compare(const void *a, const void *b)
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
        qsort(l->row, (size_t)l->count, sizeof *l->row, compare);
    return most > 0 && most < l->count ? most : l->count;
}

void trial_list_add_text(struct trial_list *l, int64_t most, struct str *out)
{
    int64_t n = sort_first(l, most);
    if (l->format == LIST_CSV) {
        if (!l->head.length)
            add_csv_head(l, "{}", &l->head);
        // Either all lines have the column of statistics, or none has.
        bool told = false;
        for (int64_t i = 0; i < l->count; i++)
            told |= l->row[i].statistics != NULL;
        str_printf(out, "%s%s\r\n", str_text(&l->head), told ? ",statistics" : "");
        for (int64_t i = 0; i < n; i++) {
            str_add(out, l->row[i].text);
            if (told)
                add_field(out, l->row[i].statistics ? l->row[i].statistics : "");
            str_add(out, "\r\n");
        }
        return;
    }
    if (n > 0) {
        str_printf(&l->head, "%6s  %4s  %-8s  %12s  %9s  %s\n", "trial", "gen", "outcome", "speed",
                   "time", "configuration, and what went wrong");
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
