#include "base/file.h"
#include "compare.h"
#include "engine/speed.h"
#include "report/text.h"
#include "view_sessions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COMPARE_EVERY 1.0 // seconds, the texts with the files
#define LABEL_COLS    10
#define MARK_COLS     3
#define SHEET_ROWS    6 // of a comparison besides its sessions and groups: heads, blanks, legend

// --- the session under the cursor: reading ---

void sessions_finish_panel(struct session_panel *p)
{
    arena_finish(&p->arena);
    free(p->best_config);
    free(p->copy);
    *p = (struct session_panel){.id = 0};
}

// Compares the texts with the files when a file has another stamp. Returns true when it did.
static bool compare_texts(struct session_panel *p, const struct session_record *r, double now)
{
    if (!p->text_count || (p->text_state != TEXT_UNREAD && now - p->compared_at < COMPARE_EVERY))
        return false;
    uint64_t stamp = 0;
    for (int i = 0; i < p->text_count; i++)
        stamp = file_stamp(p->text[i].path, stamp);
    p->compared_at = now;
    bool had_copy = p->copy != NULL;
    free(p->copy);
    p->copy = app_file_copy(r);
    if (p->stamp == stamp)
        return had_copy != (p->copy != NULL);
    p->stamp = stamp;
    p->text_state = TEXT_SAME;
    for (int i = 0; i < p->text_count && p->text_state == TEXT_SAME; i++) {
        const struct text_record *t = &p->text[i]; // the first one is the space's own
        char *on_disk = NULL;
        p->changed = t->name;
        if (!file_read(t->path, &on_disk, NULL, NULL)) {
            p->text_state = file_exists(t->path) ? TEXT_CLOSED : TEXT_GONE;
        } else {
            p->text_state = str_equal(on_disk, t->text) ? TEXT_SAME : TEXT_CHANGED;
            free(on_disk);
        }
    }
    return true;
}

bool sessions_read_panel(struct app *app, struct sessions_view *v)
{
    struct session_panel *p = &v->panel;
    const struct session_row *row = v->cursor ? model_row(&app->model, v->cursor) : NULL;
    struct store *store = app->model.store;
    bool changed = false;
    if (!row || !store)
        return false;
    if (p->id != row->record.id) {
        sessions_finish_panel(p);
        p->id = row->record.id;
        store_get_texts(store, p->id, &p->arena, &p->text, &p->text_count, NULL);
        changed = true;
    }
    if (p->best_ask != row->record.best_ask) {
        struct trial_record t;
        struct arena a;
        arena_init(&a);
        free(p->best_config);
        p->best_config = NULL;
        p->best_ask = row->record.best_ask;
        if (store_get_trial(store, row->record.id, row->record.best_ask, &a, &t, NULL) && t.ask) {
            p->best_config = mem_strdup(t.config);
            p->best_number = t.number;
        }
        arena_finish(&a);
        changed = true;
    }
    changed |= compare_texts(p, &row->record, app->now);
    return changed;
}

// --- the session under the cursor: drawing ---

struct writer {
    struct pane pane;
    int row;
    struct str text; // of the next fact
};

static void write_fact(struct writer *w, const char *label, enum style style)
{
    int col = 1 + (w->pane.cols >= 40 ? LABEL_COLS : 0);
    if (col > 1)
        pane_text(&w->pane, w->row, 1, STYLE_DIM, label);
    w->row = pane_wrapped(&w->pane, w->row, col, w->pane.cols - col - 2, style, str_text(&w->text));
    w->text.length = 0;
}

static void write_results(struct writer *w, const struct sessions_view *v,
                          const struct session_panel *p, const struct session_row *s)
{
    const struct session_record *r = &s->record;
    char speed[32], seconds[32];
    str_add(&w->text, state_word(s->state, r));
    if (r->damage)
        str_printf(&w->text, ": %s", r->damage);
    else if (r->message && r->message[0] && !s->runner)
        str_printf(&w->text, ": %s", r->message);
    if (s->runner)
        str_printf(&w->text, ", process %d", (int)s->runner);
    write_fact(w, "state", state_style(s->state, STYLE_TEXT));
    if (r->note && r->note[0]) {
        str_add(&w->text, r->note);
        write_fact(w, "note", STYLE_STRONG);
    }
    const struct session_facts *f = r->scheduler ? sessions_facts(v, r->id) : NULL;
    if (f && f->sum > 0) {
        str_printf(&w->text, "sum of parts %s", text_time(f->sum, speed));
        write_fact(w, "best", STYLE_BEST);
        return;
    }
    if (!r->best_ask) {
        str_add(&w->text, !r->trials     ? "no trial yet"
                          : r->scheduler ? "not every task has a kernel yet"
                                         : "nothing valid");
        write_fact(w, "best", STYLE_DIM);
        return;
    }
    str_printf(&w->text, "%s%s%s", speed_text(r, r->best_seconds, speed),
               speed_is_relative(r) ? " of the fastest recorded" : "",
               r->best_raced ? " raced" : "");
    if (*speed_time(r, r->best_seconds, seconds))
        str_printf(&w->text, ", %s", seconds);
    if (p->best_config)
        str_printf(&w->text, ", trial %" PRId64, p->best_number);
    write_fact(w, "best", STYLE_BEST);
    speed_add_peak(r, r->best_seconds, &w->text);
    if (w->text.length)
        write_fact(w, "roof", STYLE_TEXT);
}

// Writes first what matters most, because the panel may be low.
void sessions_draw_panel(struct app *app, struct sessions_view *v, const struct pane *p)
{
    static const struct session_panel unread = {.id = 0};
    const struct session_row *s = v->cursor ? model_row(&app->model, v->cursor) : NULL;
    char title[64] = "Session";
    if (s)
        snprintf(title, sizeof title, "Session %" PRId64, s->record.id);
    struct writer w = {.pane = p->rows >= 5 ? pane_box(p, title, NULL, false) : *p};
    if (!s)
        return;
    const struct session_panel *read = v->panel.id == s->record.id ? &v->panel : &unread;
    write_results(&w, v, read, s);
    const struct session_record *r = &s->record;
    bool real = str_equal(r->source, "device");
    if (!str_equal(r->device, "none"))
        str_printf(&w.text, "%s, driver %s%s%s", r->device, r->driver,
                   r->cold ? ", timed cold" : "", real ? "" : "; ");
    str_printf(&w.text, "%s%s", real ? "" : "times from ", real ? "" : r->source);
    write_fact(&w, "device", STYLE_TEXT);
    bool own = read->text_count > 0 && read->changed == read->text[0].name;
    str_add(&w.text, s->record.path);
    if (read->text_state == TEXT_SAME)
        str_add(&w.text, ": unchanged");
    else if (read->text_state == TEXT_CHANGED && own)
        str_add(&w.text, ": stale, the space file changed since (its text is kept)");
    else if (read->text_state == TEXT_GONE && own)
        str_add(&w.text, ": stale, the file is gone (its text is kept)");
    else if (read->text_state == TEXT_CLOSED)
        str_printf(&w.text, ": %s cannot be read here (its text is kept)", read->changed);
    else if (read->text_state != TEXT_UNREAD)
        str_printf(&w.text, ": stale, %s %s (its text is kept)", read->changed,
                   read->text_state == TEXT_GONE ? "is gone" : "changed since");
    if (read->copy)
        str_printf(&w.text, "; your copy was written since: %s", read->copy);
    write_fact(&w, "space", read->text_state > TEXT_SAME || read->copy ? STYLE_WARN : STYLE_TEXT);
    char at[32], ago[24], time[32], strategy[256];
    time_t created = (time_t)r->created;
    struct tm tm;
    str_printf(&w.text, "%" PRId64 " trials", r->budget_trials);
    if (r->budget_seconds > 0)
        str_printf(&w.text, " or %s", text_duration(r->budget_seconds, time));
    str_printf(&w.text,
               ", %" PRId64 " done: %" PRId64 " ok, %" PRId64 " failed; %" PRId64 " rejected",
               r->trials, r->ok, r->trials - r->ok, r->rejected);
    write_fact(&w, "budget", STYLE_TEXT);
    localtime_r(&created, &tm);
    strftime(at, sizeof at, "%Y-%m-%d %H:%M", &tm);
    str_printf(&w.text, "%s, %s ago; ran %s with %d worker%s", at,
               text_ago(app->unix_now - r->created, ago),
               text_duration(sessions_ran(app, v, s), time), r->workers,
               r->workers == 1 ? "" : "s");
    write_fact(&w, "created", STYLE_TEXT);
    str_printf(&w.text, "%s; seed %" PRIu64, strategy_text(r->strategy, true, strategy), r->seed);
    write_fact(&w, "strategy", STYLE_TEXT);
    str_printf(&w.text, "%s, %s", r->name, r->title);
    if (!r->scheduler)
        str_printf(&w.text, ": %s configurations", r->size);
    write_fact(&w, "problem", STYLE_TEXT);
    if (read->best_config) {
        text_config(read->best_config, &w.text);
        write_fact(&w, "best is", STYLE_TEXT);
    }
    str_finish(&w.text);
}

// --- the comparison of the marked sessions ---

enum { RUN_ID, RUN_STRATEGY, RUN_SEED, RUN_BEST, RUN_SHARE, RUN_MEAN, RUN_GOAL };
#define RUN_TRIALS  (RUN_GOAL + COMPARISON_GOALS)
#define RUN_TIME    (RUN_TRIALS + 1)
#define RUN_OK      (RUN_TRIALS + 2)
#define RUN_COLUMNS (RUN_TRIALS + 3)

enum { GROUP_STRATEGY, GROUP_RUNS, GROUP_MEAN, GROUP_DEVIATION, GROUP_BEST, GROUP_COLUMNS };

static const struct table_column run_columns[RUN_COLUMNS] = {
    [RUN_ID] = {"id", 4, 0, 0, true},
    [RUN_STRATEGY] = {"strategy", 11, 30, 6, false},
    [RUN_SEED] = {"seed", 4, 0, 11, true},
    [RUN_BEST] = {"best", 6, 0, 1, true},
    [RUN_SHARE] = {"of best", 7, 0, 3, true},
    [RUN_MEAN] = {"mean", 6, 0, 2, true},
    [RUN_GOAL] = {"to 90 %", 6, 0, 7, true},
    [RUN_GOAL + 1] = {"to 95 %", 6, 0, 4, true},
    [RUN_GOAL + 2] = {"to 99 %", 6, 0, 8, true},
    [RUN_TRIALS] = {"trials", 6, 0, 9, true},
    [RUN_TIME] = {"ran", 6, 0, 5, true},
    [RUN_OK] = {"ok", 7, 0, 10, true},
};

static const struct table_column group_columns[GROUP_COLUMNS] = {
    [GROUP_STRATEGY] = {"by strategy", 11, 60, 0, false},
    [GROUP_RUNS] = {"runs", 4, 0, 2, true},
    [GROUP_MEAN] = {"mean best", 9, 0, 1, true},
    [GROUP_DEVIATION] = {"deviation", 9, 0, 3, true},
    [GROUP_BEST] = {"best", 6, 0, 4, true},
};

struct sheet { // lines of the comparison, of which the pane shows those from `top` on
    struct app *app;
    const struct sessions_view *view;
    struct pane pane;
    struct table runs, groups;
    double per_flops;
    bool is_inverse; // the inverses of speeds are costs
    int row;         // the next one's
};

static void put_speed(const struct sheet *s, const struct table *t, int column, enum style style,
                      double flops)
{
    char text[24];
    sessions_speed(flops, s->per_flops, text);
    if (s->is_inverse && flops > 0)
        snprintf(text, sizeof text, "%.3g", 1 / (flops * s->per_flops));
    table_put(t, s->row, column, style, text[0] ? text : "-");
}

// Writes the strategy and the way it began.
static const char *search_text(const struct session_record *r, char out[256])
{
    size_t length = strlen(strategy_text(r->strategy, false, out));
    snprintf(out + length, 256 - length, "%s", stored_beginning(r));
    return out;
}

static void put_run(const struct sheet *s, const struct compare_row *run, bool is_first)
{
    const struct session_record *r = &run->mark->record;
    char text[256];
    table_printf(&s->runs, s->row, RUN_ID, STYLE_STRONG, "%" PRId64, r->id);
    table_put(&s->runs, s->row, RUN_STRATEGY, STYLE_TEXT, search_text(r, text));
    table_printf(&s->runs, s->row, RUN_SEED, STYLE_DIM, "%" PRIu64, r->seed);
    put_speed(s, &s->runs, RUN_BEST, is_first ? STYLE_BEST : STYLE_TEXT, run->best);
    table_printf(&s->runs, s->row, RUN_SHARE, STYLE_TEXT, "%.1f %%", 100 * run->share);
    put_speed(s, &s->runs, RUN_MEAN, STYLE_TEXT, run->mean);
    for (int i = 0; i < COMPARISON_GOALS; i++) {
        table_printf(&s->runs, s->row, RUN_GOAL + i, run->goal[i] ? STYLE_TEXT : STYLE_DIM,
                     run->goal[i] ? "%" PRId64 : "-", run->goal[i]);
    }
    table_printf(&s->runs, s->row, RUN_TRIALS, STYLE_TEXT, "%" PRId64, r->trials);
    const struct session_row *row = model_row(&s->app->model, r->id);
    double ran = row ? sessions_ran(s->app, s->view, row) : r->ran_seconds;
    table_put(&s->runs, s->row, RUN_TIME, STYLE_TEXT, text_duration(ran, text));
    table_printf(&s->runs, s->row, RUN_OK, STYLE_TEXT, "%.1f %%", 100 * run->ok_share);
}

int sessions_compare_rows(struct app *app)
{
    struct comparison c;
    compare_marks(&c, app->model.mark, app->model.mark_count);
    return SHEET_ROWS + c.count + c.group_count + 2;
}

// Returns the unit of the comparison. Sessions that are comparable are on one recording, or on
// none.
static const char *comparison_unit(const struct model *m, const struct comparison *c,
                                   double *per_flops)
{
    const struct session_record *best = c->comparable ? &c->row[0].mark->record : NULL;
    double share = best ? speed_share(best) : 0;
    const char *name;
    if (best && best->unit) {
        *per_flops = 1 / speed_unit(best, best->flop / best->best_seconds, &name);
        return name;
    }
    if (!(share > 0))
        return sessions_unit(m, per_flops);
    *per_flops = 100 * share * best->best_seconds / best->flop;
    return "% of the fastest recorded";
}

void sessions_draw_comparison(struct app *app, struct sessions_view *v, const struct pane *p)
{
    struct comparison c;
    struct sheet s = {.app = app, .view = v};
    char title[64], note[160] = "";
    compare_marks(&c, app->model.mark, app->model.mark_count);
    const char *unit = comparison_unit(&app->model, &c, &s.per_flops);
    s.is_inverse = c.comparable && speed_is_inverse(&c.row[0].mark->record);
    snprintf(title, sizeof title, "Comparison of %d session%s, %s", c.comparable,
             c.comparable == 1 ? "" : "s", unit);
    if (c.comparable)
        snprintf(note, sizeof note, "%.100s   %s closes", c.row[0].mark->record.title,
                 app_key_of(app, ACT_BACK));
    s.pane = pane_box(p, title, note, true);
    if (c.count < 2) {
        pane_line(&s.pane, 0, 1, STYLE_DIM, "Mark two sessions or more to compare them.");
        return;
    }
    table_fit(&s.runs, &s.pane, run_columns, RUN_COLUMNS, MARK_COLS);
    table_fit(&s.groups, &s.pane, group_columns, GROUP_COLUMNS, 1);
    list_fit(&v->comparison, SHEET_ROWS + c.count + c.group_count, s.pane.rows);
    s.row = -(int)v->comparison.top;
    table_put_heads(&s.runs, &s.pane, s.row++);
    for (int i = 0; i < c.count; i++, s.row++) {
        const struct compare_row *run = &c.row[i];
        const struct session_record *r = &run->mark->record;
        char letter = run->mark->letter, text[256];
        pane_printf(&s.pane, s.row, 1, (enum style)(STYLE_SERIES + (letter - 'A') % MOST_SERIES),
                    "%c", letter);
        if (i < c.comparable) {
            put_run(&s, run, i == 0);
            continue;
        }
        bool problem = run->fit == COMPARE_OTHER_PROBLEM, device = run->fit == COMPARE_OTHER_DEVICE;
        snprintf(text, sizeof text, "%" PRId64 "  not comparable, another %s: %s", r->id,
                 problem  ? "problem"
                 : device ? "device"
                          : "source of times",
                 problem  ? r->title
                 : device ? r->device
                          : r->source);
        pane_text_cut(&s.pane, s.row, MARK_COLS, s.pane.cols - MARK_COLS - 1, STYLE_WARN, text);
    }
    s.row++;
    char text[256];
    table_put_heads(&s.groups, &s.pane, s.row++);
    for (int i = 0; i < c.group_count; i++, s.row++) {
        const struct compare_group *g = &c.group[i];
        const char *apart = compare_apart(&c.row[0].mark->record, g->first);
        table_printf(&s.groups, s.row, GROUP_STRATEGY, STYLE_TEXT, "%s%s%s",
                     search_text(g->first, text), apart ? ", other " : "", apart ? apart : "");
        table_printf(&s.groups, s.row, GROUP_RUNS, STYLE_TEXT, "%d", g->runs);
        put_speed(&s, &s.groups, GROUP_MEAN, STYLE_STRONG, g->mean);
        put_speed(&s, &s.groups, GROUP_DEVIATION, g->runs > 1 ? STYLE_TEXT : STYLE_DIM,
                  s.is_inverse ? 0 : g->deviation); // that of a speed is none of a cost
        put_speed(&s, &s.groups, GROUP_BEST, STYLE_TEXT, g->best);
    }
    // The meaning of the heads.
    snprintf(text, sizeof text,
             "mean: best so far over %" PRId64
             " trials; to 90 %%: trials until 90 %% of the best curve",
             c.horizon);
    pane_text_cut(&s.pane, ++s.row, 1, s.pane.cols - 2, STYLE_DIM,
                  "best: as ranked, after races; all else: curves as measured");
    pane_text_cut(&s.pane, ++s.row, 1, s.pane.cols - 2, STYLE_DIM, text);
}
