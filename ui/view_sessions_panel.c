#include "view_sessions.h"

#include "app_draw.h"
#include "base/file.h"
#include "engine/speed.h"
#include "report/text.h"
#include "wrap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOK_EVERY 1.0 // seconds, at the space file
#define LABEL_COLS 10

// --- reading ---

void sessions_finish_panel(struct session_panel *p)
{
    arena_finish(&p->arena);
    free(p->best_config);
    *p = (struct session_panel){.id = 0};
}

static uint64_t stamp_of(const struct session_panel *p)
{
    uint64_t stamp = 0;
    for (int i = 0; i < p->text_count; i++)
        stamp = file_stamp(p->text[i].path, stamp);
    return stamp;
}

static enum text_fate fate_of(const struct text_record *t)
{
    char *now;
    if (!file_read(t->path, &now, NULL, NULL))
        return file_exists(t->path) ? TEXT_CLOSED : TEXT_GONE;
    enum text_fate fate = str_equal(now, t->text) ? TEXT_SAME : TEXT_CHANGED;
    free(now);
    return fate;
}

// The first text is the space's own.
static void compare_texts(struct session_panel *p)
{
    p->fate = TEXT_SAME;
    for (int i = 0; i < p->text_count && p->fate == TEXT_SAME; i++) {
        p->fate = fate_of(&p->text[i]);
        p->changed = p->text[i].name;
    }
}

static bool look_at_texts(struct session_panel *p, double now)
{
    if (!p->text_count || (p->fate != TEXT_UNREAD && now - p->looked < LOOK_EVERY))
        return false;
    uint64_t stamp = stamp_of(p);
    p->looked = now;
    if (p->stamp == stamp)
        return false;
    p->stamp = stamp;
    compare_texts(p);
    return true;
}

static void read_best(struct store *store, const struct session_record *r, struct session_panel *p)
{
    struct trial_record t;
    struct arena a;
    arena_init(&a);
    free(p->best_config);
    p->best_config = NULL;
    p->best_ask = r->best_ask;
    if (store_get_trial(store, r->id, r->best_ask, &a, &t, NULL) && t.ask) {
        p->best_config = mem_strdup(t.config);
        p->best_number = t.number;
    }
    arena_finish(&a);
}

bool sessions_read_panel(struct app *app, struct sessions_view *v)
{
    struct session_panel *p = &v->panel;
    const struct session_row *row = v->cursor ? model_row(&app->model, v->cursor) : NULL;
    struct store *store = app->model.store;
    bool news = false;
    if (!row || !store)
        return false;
    if (p->id != row->record.id) {
        sessions_finish_panel(p);
        p->id = row->record.id;
        store_get_texts(store, p->id, &p->arena, &p->text, &p->text_count, NULL);
        news = true;
    }
    if (p->best_ask != row->record.best_ask) {
        read_best(store, &row->record, p);
        news = true;
    }
    news |= look_at_texts(p, app->now);
    return news;
}

// --- writing ---

struct writer {
    struct pane pane;
    int row;
};

int put_wrapped(const struct pane *p, int row, int col, enum style style, const char *text)
{
    return pane_wrapped(p, row, col, p->cols - col - 2, style, text);
}

static void write_fact(struct writer *w, const char *label, enum style style, const char *text)
{
    int label_cols = w->pane.cols >= 40 ? LABEL_COLS : 0;
    if (label_cols)
        pane_text(&w->pane, w->row, 1, STYLE_DIM, label);
    w->row = put_wrapped(&w->pane, w->row, 1 + label_cols, style, text);
}

static void write_state(struct writer *w, const struct session_row *s)
{
    struct str text = {0};
    str_add(&text, state_word(s->state, &s->record));
    if (s->record.damage)
        str_printf(&text, ": %s", s->record.damage);
    else if (s->record.message && s->record.message[0] && !s->runner)
        str_printf(&text, ": %s", s->record.message);
    if (s->runner)
        str_printf(&text, ", process %d", (int)s->runner);
    write_fact(w, "state", state_style(s->state, STYLE_TEXT), str_text(&text));
    str_finish(&text);
}

static void write_best(struct writer *w, const struct session_panel *p,
                       const struct session_record *r)
{
    char speed[32], seconds[32];
    if (!r->best_ask) {
        write_fact(w, "best", STYLE_DIM, r->trials ? "nothing valid" : "no trial yet");
        return;
    }
    struct str text = {0};
    str_printf(&text, "%s%s%s, %s", speed_text(r, r->best_seconds, speed),
               speed_is_relative(r) ? " of the fastest recorded" : "",
               r->best_raced ? " raced" : "", text_time(r->best_seconds, seconds));
    if (p->best_config)
        str_printf(&text, ", trial %" PRId64, p->best_number);
    write_fact(w, "best", STYLE_BEST, str_text(&text));
    text.length = 0;
    speed_add_roof(r, r->best_seconds, &text);
    if (text.length)
        write_fact(w, "roof", STYLE_TEXT, str_text(&text));
    str_finish(&text);
}

static void write_config(struct writer *w, const struct session_panel *p)
{
    struct str config = {0};
    if (p->best_config)
        write_fact(w, "best is", STYLE_TEXT, text_config(p->best_config, &config));
    str_finish(&config);
}

static void write_space(struct writer *w, const struct session_panel *p,
                        const struct session_record *r)
{
    struct str text = {0};
    bool own = p->text_count > 0 && p->changed == p->text[0].name;
    str_add(&text, r->path);
    if (p->fate == TEXT_SAME)
        str_add(&text, ": unchanged");
    else if (p->fate == TEXT_CHANGED && own)
        str_add(&text, ": stale, the space file changed since (its text is kept)");
    else if (p->fate == TEXT_GONE && own)
        str_add(&text, ": stale, the file is gone (its text is kept)");
    else if (p->fate == TEXT_CLOSED)
        str_printf(&text, ": %s cannot be read here (its text is kept)", p->changed);
    else if (p->fate != TEXT_UNREAD)
        str_printf(&text, ": stale, %s %s (its text is kept)", p->changed,
                   p->fate == TEXT_GONE ? "is gone" : "changed since");
    write_fact(w, "space", p->fate > TEXT_SAME ? STYLE_WARN : STYLE_TEXT, str_text(&text));
    str_finish(&text);
}

static void write_budget(struct writer *w, const struct session_record *r)
{
    char time[32];
    struct str text = {0};
    str_printf(&text, "%" PRId64 " trials", r->budget_trials);
    if (r->budget_seconds > 0)
        str_printf(&text, " or %s", text_duration(r->budget_seconds, time));
    str_printf(&text,
               ", %" PRId64 " done: %" PRId64 " ok, %" PRId64 " failed; %" PRId64 " rejected",
               r->trials, r->ok, r->trials - r->ok, r->rejected);
    write_fact(w, "budget", STYLE_TEXT, str_text(&text));
    str_finish(&text);
}

static void write_times(struct writer *w, struct app *app, const struct sessions_view *v,
                        const struct session_row *s)
{
    const struct session_record *r = &s->record;
    char at[32], ago[24], ran[32];
    time_t created = (time_t)r->created;
    struct tm tm;
    double seconds = sessions_ran(app, v, s);
    localtime_r(&created, &tm);
    strftime(at, sizeof at, "%Y-%m-%d %H:%M", &tm);
    char *text = mem_printf("%s, %s ago; ran %s with %d worker%s", at,
                            text_ago(app->unix_now - r->created, ago), text_duration(seconds, ran),
                            r->workers, r->workers == 1 ? "" : "s");
    write_fact(w, "created", STYLE_TEXT, text);
    free(text);
}

static void write_device(struct writer *w, const struct session_record *r)
{
    bool real = str_equal(r->source, "device");
    char *text =
        mem_printf("%s, driver %s%s%s%s", r->device, r->driver, r->cold ? ", timed cold" : "",
                   real ? "" : "; times from ", real ? "" : r->source);
    write_fact(w, "device", STYLE_TEXT, text);
    free(text);
}

// What matters most comes first: the panel may be low.
static void write_all(struct writer *w, struct app *app, const struct sessions_view *v,
                      const struct session_row *s)
{
    static const struct session_panel unread = {.id = 0};
    const struct session_record *r = &s->record;
    const struct session_panel *p = v->panel.id == r->id ? &v->panel : &unread;
    char strategy[256];
    write_state(w, s);
    if (r->note && r->note[0])
        write_fact(w, "note", STYLE_STRONG, r->note);
    write_best(w, p, r);
    write_space(w, p, r);
    write_budget(w, r);
    write_times(w, app, v, s);
    char *text =
        mem_printf("%s; seed %" PRIu64, strategy_text(r->strategy, true, strategy), r->seed);
    write_fact(w, "strategy", STYLE_TEXT, text);
    free(text);
    write_device(w, r);
    text = mem_printf("%s, %s: %s configurations", r->name, r->title, r->size);
    write_fact(w, "problem", STYLE_TEXT, text);
    free(text);
    write_config(w, p);
}

void sessions_draw_panel(struct app *app, struct sessions_view *v, const struct pane *p)
{
    const struct session_row *s = v->cursor ? model_row(&app->model, v->cursor) : NULL;
    char title[64] = "Session";
    if (s)
        snprintf(title, sizeof title, "Session %" PRId64, s->record.id);
    struct writer w = {.pane = p->rows >= 5 ? pane_box(p, title, NULL, false) : *p};
    if (s)
        write_all(&w, app, v, s);
}
