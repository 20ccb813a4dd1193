#include "view_main.h"

#include "engine/speed.h"
#include "report/text.h"
#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NEIGHBOURS  400 // that are looked up
#define NEIGHBOURS_SLICE 25  // some twenty microseconds each
#define FAST_RATE        2.0 // trials a second: the newest one is not looked at for long

struct writer {
    struct app *app;
    struct lines lines;
    int first;  // row of the first line
    bool loose; // there is room for blank lines
};

// Adds words on as many rows as they take.
static void add_words(struct writer *w, enum style style, const char *text)
{
    w->lines.row = pane_wrapped(w->lines.p, w->lines.row, 0, w->lines.p->cols, style, text);
}

// --- the result ---

// Appends "race      43.69 TFLOPS  0.393 ms", or "43.69 TFLOPS  0.393 ms ±0.7 %" as measured.
static void add_time_of(const struct model *m, const struct trial *t, bool race, struct str *out)
{
    char number[32], time[32];
    double per, seconds = race ? t->race_seconds : t->seconds;
    const char *unit = model_unit(m, &per);
    speed_time(&m->open.record, seconds, time);
    str_printf(out, "%s%s %s%s%s", race ? "race      " : "",
               speed_number(m, seconds_speed(m, seconds), number), unit, *time ? "  " : "", time);
    if (!race && t->samples > 1)
        str_printf(out, " ±%.1f %%", 50 * t->spread); // half of the range
}

static void add_result(struct writer *w, const struct trial *t)
{
    if (t->told == 0 || t->outcome != OUTCOME_OK) {
        lines_add(&w->lines, trial_style(&w->app->model, t), "%s%s%s",
                  trial_word(&w->app->model, t), t->phase[0] ? " in phase " : "", t->phase);
        add_words(w, STYLE_TEXT, t->reason);
    } else {
        // The result that ranks it.
        struct model *m = &w->app->model;
        double own = trial_rank(t).seconds;
        double gain = own > 0 ? 100 * (m->open.record.best_seconds / own - 1) : -100;
        struct str text = {0};
        add_time_of(m, t, trial_shows_race(t), &text);
        // One that was stopped early says so below; that others are ok, their times say.
        if (trial_shows_race(t) || t->ask == m->open.record.best_ask)
            str_printf(&text, "  %s", trial_word(m, t));
        if (gain > -100 && t->ask != m->open.record.best_ask)
            str_printf(&text, "  vs best %+.*f %%", fabs(gain) < 9.95, gain);
        lines_add(&w->lines, trial_style(m, t), "%s", str_text(&text));
        str_finish(&text);
    }
    if (t->early_stopped)
        lines_add(&w->lines, STYLE_WARN, "stopped early (cannot beat the best)");
    if (t->raced) {
        const struct model *m = &w->app->model;
        struct str text = {0};
        str_add(&text, t->race_verified ? "measured  " : "");
        add_time_of(m, t, !t->race_verified, &text);
        str_add(&text, t->race_verified ? "" : "  NOT verified");
        lines_add(&w->lines, t->race_verified ? STYLE_TEXT : STYLE_BAD, "%s", str_text(&text));
        str_finish(&text);
    }
}

// --- the configuration ---

struct part { // of the configuration: a live parameter as text
    char *text;
    int name; // bytes of the name, in front
    int cols;
    bool mutated;
};

static int widest(const struct part *part, int first, int past, int count)
{
    int cols = 0;
    for (int i = first; i < past && i < count; i++)
        cols = part[i].cols > cols ? part[i].cols : cols;
    return cols;
}

static void add_config(struct writer *w, const struct trial *t)
{
    const struct space *s = w->app->model.open.space;
    struct part part[SPACE_MAX_PARAMS];
    if (!s) {
        add_words(w, STYLE_WARN, w->app->model.open.trouble.text);
        return;
    }
    int count = 0;
    for (int i = 0; i < s->param_count; i++)
        if (space_is_live(s, &t->config, i)) {
            // "unroll 512", and "unroll 128>512" for a mutated parameter.
            const struct param *p = &w->app->model.open.space->param[i];
            struct str text = {0};
            str_printf(&text, "%s ", p->name);
            struct part one = {.name = (int)strlen(p->name)};
            const struct trial *from = t->has_origin && t->origin[i] > 0
                                           ? model_trial(&w->app->model, t->origin[i])
                                           : NULL;
            if (from && !value_equal(p, &from->config, &t->config)) {
                one.mutated = true;
                value_add_text(p, from->config.slot + p->offset, &text);
                str_add(&text, ">");
            }
            value_add_text(p, t->config.slot + p->offset, &text);
            one.cols = text_columns(str_text(&text));
            one.text = str_take(&text);
            part[count++] = one;
        }
    // The fewest lines: as many columns as fit, each as wide as it must be.
    int lines = count > 0, col = 0;
    for (; lines < count; lines++) {
        int used = -2;
        for (int first = 0; first < count; first += lines)
            used += 2 + widest(part, first, first + lines, count);
        if (used <= w->lines.p->cols)
            break;
    }
    w->loose = w->lines.row - w->first + lines + 8 <=
               w->lines.p->rows; // two blank lines, six rows to come
    w->lines.row += w->loose;
    for (int i = 0; i < count; i++) {
        const char *value = strchr(part[i].text, ' ');
        int row = w->lines.row + i % lines;
        if (i > 0 && i % lines == 0)
            col += 2 + widest(part, i - lines, i, count);
        pane_line(w->lines.p, row, col, STYLE_DIM, "%s", part[i].text);
        if (value) {
            pane_text_cut(w->lines.p, row, col + part[i].name,
                          w->lines.p->cols - col - part[i].name,
                          part[i].mutated ? STYLE_WARN : STYLE_TEXT, value);
        }
    }
    w->lines.row += lines + w->loose;
    for (int i = 0; i < count; i++)
        free(part[i].text);
}

// --- where it comes from ---

static void add_origin(struct writer *w, const struct trial *t)
{
    struct model *m = &w->app->model;
    const struct space *s = m->open.space;
    struct str parents = {0};
    int mutated = 0, sampled = 0;
    for (int i = 0; s && t->has_origin && i < s->param_count; i++) {
        const struct trial *from = t->origin[i] > 0 ? model_trial(m, t->origin[i]) : NULL;
        bool again = t->origin[i] == 0;
        for (int j = 0; j < i; j++)
            again |= t->origin[j] == t->origin[i];
        sampled += t->origin[i] == 0;
        mutated += from && !value_equal(&s->param[i], &from->config, &t->config);
        if (again)
            continue;
        bool named = from && from->number > 0;
        str_printf(&parents, "%s%s%" PRId64, parents.length > 0 ? " × " : "", named ? "#" : "ask ",
                   named ? from->number : t->origin[i]);
    }
    if (parents.length == 0)
        lines_add(&w->lines, STYLE_TEXT, "random sample%s",
                  strategy_has_model(m->open.record.strategy) ? ", or the model's choice" : "");
    else
        lines_add(&w->lines, STYLE_TEXT, "%d parameter%s mutated%s  parents %s", mutated,
                  mutated == 1 ? "" : "s", sampled > 0 ? ", some sampled" : "", str_text(&parents));
    str_finish(&parents);
}

static void add_neighbours(struct writer *w, const struct neighbours *n, const struct trial *t)
{
    const struct space *s = w->app->model.open.space;
    if (!s)
        return;
    int in_all = space_degree(s, &t->config);
    if (n->ask != t->ask) {
        lines_add(&w->lines, STYLE_TEXT, "neighbours %d", in_all);
        return;
    }
    struct str text = {0};
    str_printf(&text, "neighbours %d of %d tried", n->tried, n->seen);
    if (n->seen < in_all)
        str_printf(&text, " (%d in all)", in_all);
    if (t->outcome == OUTCOME_OK && t->told > 0 && n->tried > 0)
        str_printf(&text, ", %d better", n->better);
    if (n->excluded > 0)
        str_printf(&text, ", %d excluded", n->excluded);
    w->lines.row =
        pane_wrapped(w->lines.p, w->lines.row, 0, w->lines.p->cols, STYLE_TEXT, str_text(&text));
    str_finish(&text);
}

// --- the pane ---

void detail_pane_draw(struct app *app, struct detail_pane *state, const struct pane *p,
                      bool focused)
{
    const struct trial *shown = shown_trial(app);
    if (!shown) {
        pane_line(p, 0, 0, STYLE_DIM, "%s", no_trial_text(&app->model));
        return;
    }
    struct trial t = *shown; // outlives look-ups of parents
    if (t.ask != state->ask)
        state->text.top = 0;
    state->ask = t.ask;
    list_fit(&state->text, state->text.count, p->rows);
    int top = (int)state->text.top;
    struct writer w = {.app = app, .lines = {.p = p, .row = -top}, .first = -top};
    add_result(&w, &t);
    add_config(&w, &t);
    add_origin(&w, &t);
    add_neighbours(&w, &state->counted, &t);
    static const char *const phases[] = {"compile", "pipeline", "device"};
    char time[32];
    struct str text = {0};
    for (int k = 0; k < STATISTIC_KIND_COUNT; k++)
        if (!isnan(t.statistic[k])) {
            str_printf(&text, "%s%s ", text.length ? "  " : "",
                       statistic_kind_name((enum statistic_kind)k));
            str_add_real(&text, t.statistic[k]);
        }
    bool spills = t.statistic[STATISTIC_SPILLS] > 0;
    if (text.length)
        add_words(&w, spills ? STYLE_WARN : STYLE_TEXT, str_text(&text));
    str_finish(&text);
    if (t.clocks[0])
        add_words(&w, t.is_unsteady ? STYLE_WARN : STYLE_TEXT, t.clocks);
    const double seconds[] = {t.compile_s, t.pipeline_s, t.device_s};
    for (int i = 0; i < 3; i++)
        if (seconds[i] > 0)
            str_printf(&text, "%s%s %s", text.length ? "  " : "", phases[i],
                       text_time(seconds[i], time));
    if (text.length > 0)
        add_words(&w, STYLE_TEXT, str_text(&text));
    str_finish(&text);
    if (t.told) {
        str_printf(&text, "gen %d  worker %d  after %s", t.generation, t.worker,
                   text_duration(t.elapsed_s, time));
        if (t.samples > 0)
            str_printf(&text, "  %d sample%s", t.samples, t.samples == 1 ? "" : "s");
        add_words(&w, STYLE_TEXT, str_text(&text));
        str_finish(&text);
    }
    state->text.count = w.lines.row + top;
    if (w.lines.row > p->rows) {
        char more[40];
        snprintf(more, sizeof more, " %s more", app_key_of(app, ACT_PAGE_DOWN));
        pane_text_right(p, p->rows - 1, p->cols, STYLE_KEY, more);
    }
    if (focused && p->rows > 0)
        pane_cursor(p, 0, 0);
}

void detail_pane_title(struct app *app, const struct detail_pane *state, char title[64],
                       char note[64])
{
    const struct trial *t = shown_trial(app);
    snprintf(title, 64, "Detail");
    note[0] = '\0';
    if (t && t->number > 0)
        snprintf(title, 64, "Trial %" PRId64, t->number);
    else if (t)
        snprintf(title, 64, "Ask %" PRId64, t->ask);
    if (state->text.rows > 0)
        list_note(&state->text, "lines", note);
    if (t && !note[0])
        snprintf(note, 64, "%s", app->follow ? "the newest" : "");
}

bool detail_pane_act(struct detail_pane *state, enum action a)
{
    bool pages = a == ACT_PAGE_UP || a == ACT_PAGE_DOWN || a == ACT_HALF_UP || a == ACT_HALF_DOWN;
    return pages && list_scroll(&state->text, a);
}

// --- neighbours ---

bool detail_pane_tick(struct app *app, struct detail_pane *state)
{
    struct neighbours *n = &state->counting;
    const struct trial *t = shown_trial(app);
    if (!t || !app->model.open.space)
        return false;
    // A running session changes all the time: its neighbours are counted once a second.
    const struct opened *o = &app->model.open;
    bool stale = n->seen == n->in_all && n->version != o->version &&
                 (o->runner == 0 || app->now - n->begun >= 1);
    if ((n->ask != t->ask || stale) && !(app->follow && o->rate > FAST_RATE)) {
        int degree = space_degree(app->model.open.space, &t->config);
        *n = (struct neighbours){
            .ask = t->ask,
            .version = app->model.open.version,
            .begun = app->now,
            .in_all = degree < MOST_NEIGHBOURS ? degree : MOST_NEIGHBOURS,
        };
    }
    if (n->ask != t->ask || n->seen == n->in_all)
        return false;
    struct model *m = &app->model;
    struct config c = t->config;
    struct rank rank = trial_rank(t);
    for (int i = 0; i < NEIGHBOURS_SLICE && n->seen < n->in_all; i++) {
        struct config other;
        space_neighbour(m->open.space, &c, n->seen++, &other);
        const struct trial *found = model_trial_with(m, &other);
        if (!found)
            continue;
        bool excluded = found->told > 0 && found->outcome == OUTCOME_REJECTED;
        n->excluded += excluded;
        n->tried += !excluded;
        n->better += rank_is_better(trial_rank(found), rank);
    }
    if (n->seen == n->in_all) {
        state->counted = *n;
        app->dirty = true;
    }
    return n->seen < n->in_all;
}
