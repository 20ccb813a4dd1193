#include "view_space_moves.h"

#include "trial_text.h"
#include "view_space.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int degree_of(const struct space *s, const struct config *c, int param)
{
    const struct param *p = &s->param[param];
    return space_is_live(s, c, param) ? param_degree(p, c->slot + p->offset) : 0;
}

static struct config moved(const struct space *s, const struct config *c, int param, int k)
{
    struct config out;
    space_step(s, c, param, k, &out);
    return out;
}

void fates_begin(struct fates *m, const struct space *s, const struct config *from)
{
    fates_finish(m);
    m->from = *from;
    m->candidates = space_degree(s, from);
}

static void judge(const struct space *s, const struct limits *l, const struct config *c,
                  struct move *out)
{
    struct verdict v;
    struct err e;
    if (!space_judge(s, l, c, &v, &e)) {
        out->fate = FATE_BROKEN;
        snprintf(out->reason, sizeof out->reason, "%s", e.text);
        return;
    }
    out->fate = v.legal ? FATE_UNTRIED : FATE_FORBIDDEN;
    snprintf(out->reason, sizeof out->reason, "%s", v.legal ? "" : v.reason);
}

// Goes on to the parameter that the next move is of. False: there is none.
static bool settle(struct fates *m, const struct space *s)
{
    while (m->param < s->param_count &&
           (m->next == FATES_MOST_EACH || m->next >= degree_of(s, &m->from, m->param))) {
        m->param++;
        m->next = 0;
    }
    return m->param < s->param_count;
}

bool fates_step(struct fates *m, const struct space *s, const struct limits *l, int most,
                fates_find *find, void *context)
{
    for (int i = 0; i < most && settle(m, s); i++) {
        const struct param *p = &s->param[m->param];
        struct config c = moved(s, &m->from, m->param, m->next++);
        MEM_GROW(m->move, m->count, m->capacity);
        struct move *out = &m->move[m->count++];
        *out = (struct move){.param = m->param};
        memcpy(out->value, c.slot + p->offset, (size_t)p->width * sizeof *out->value);
        const struct trial *t = find(context, &c);
        if (t) {
            bool told = t->told > 0, rejected = told && t->outcome == OUTCOME_REJECTED;
            out->fate = rejected ? FATE_FORBIDDEN : told ? FATE_TRIED : FATE_IN_FLIGHT;
            out->number = t->number;
            out->outcome = t->outcome;
            if (told)
                out->rank = trial_rank(t);
            snprintf(out->reason, sizeof out->reason, "%s", t->reason);
        } else
            judge(s, l, &c, out);
    }
    return settle(m, s);
}

struct fates_sum fates_sum(const struct fates *m, const struct space *s, int param, struct rank now)
{
    struct fates_sum sum = {.candidates = m->candidates};
    if (param != FATES_ALL)
        sum.candidates = degree_of(s, &m->from, param);
    for (int i = 0; i < m->count; i++) {
        const struct move *move = &m->move[i];
        if (param != FATES_ALL && move->param != param)
            continue;
        sum.looked_at++;
        sum.valid += move->fate < FATE_FORBIDDEN;
        sum.tried += move->fate == FATE_TRIED;
        sum.better += now.seconds > 0 && rank_is_better(move->rank, now);
    }
    return sum;
}

void fates_finish(struct fates *m)
{
    free(m->move);
    *m = (struct fates){0};
}

#define MOST_BARS   32
#define WIDEST_TEXT 24 // of a value

void space_line(struct space_lines *l, enum style style, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pane_text_cut(l->p, l->row++, 0, l->p->cols, style, text);
}

static void value_text(const struct param *p, const int32_t *value, char out[64])
{
    struct str text = {0};
    value_add_text(p, value, &text);
    snprintf(out, 64, "%s", str_text(&text));
    str_finish(&text);
}

static int widen(const struct param *p, const int32_t *value, int width)
{
    char text[64];
    value_text(p, value, text);
    int cols = text_columns(text);
    cols = cols < WIDEST_TEXT ? cols : WIDEST_TEXT;
    return cols > width ? cols : width;
}

// --- the neighbours along one parameter ---

struct along { // what their lines share
    struct app *app;
    const struct param *param;
    int width;        // of values
    struct rank rank; // of now
};

// Without words and unit where there is no room for them.
static void add_tried(struct space_lines *l, const struct along *a, const struct move *m, int col)
{
    const struct model *model = &a->app->model;
    char number[24], against[32] = "", text[128];
    double per;
    int room = l->p->cols - col;
    double now = a->rank.seconds, seconds = m->rank.seconds;
    if (seconds <= 0) { // it failed, or is not believed
        bool ok = m->outcome == OUTCOME_OK;
        snprintf(text, sizeof text, "tried #%" PRId64 "  %s", m->number,
                 ok ? "ok, not verified again" : outcome_name(m->outcome));
        pane_text_cut(l->p, l->row, col, room, ok ? STYLE_WARN : STYLE_BAD, text);
        return;
    }
    bool better = now > 0 && rank_is_better(m->rank, a->rank);
    speed_number(model, seconds_speed(model, seconds), number);
    if (now > 0)
        snprintf(against, sizeof against, "  (%+.1f %%)", 100 * (now / seconds - 1));
    snprintf(text, sizeof text, "tried #%" PRId64 "  %s %s%s", m->number, number,
             model_unit(model, &per), against);
    if (text_columns(text) > room)
        snprintf(text, sizeof text, "#%" PRId64 "  %s%s", m->number, number, against);
    pane_text_cut(l->p, l->row, col, room, better ? STYLE_GOOD : STYLE_TEXT, text);
}

static void add_move(struct space_lines *l, const struct along *a, const struct move *m)
{
    char text[64];
    int col = 2 + a->width + 2, room = l->p->cols - col;
    value_text(a->param, m->value, text);
    bool dim = m->fate == FATE_FORBIDDEN || m->fate == FATE_BROKEN;
    pane_text_cut(l->p, l->row, 2, a->width, dim ? STYLE_DIM : STYLE_TEXT, text);
    switch (m->fate) {
    case FATE_TRIED: add_tried(l, a, m, col); break;
    case FATE_IN_FLIGHT: pane_text_cut(l->p, l->row, col, room, STYLE_DIM, "in flight"); break;
    case FATE_UNTRIED: pane_text_cut(l->p, l->row, col, room, STYLE_TEXT, "valid, untried"); break;
    case FATE_FORBIDDEN:
        col = pane_text(l->p, l->row, col, STYLE_WARN, "x ");
        pane_text_cut(l->p, l->row, col, l->p->cols - col, STYLE_DIM, m->reason);
        break;
    case FATE_BROKEN:
        col = pane_text(l->p, l->row, col, STYLE_BAD, "rule fails: ");
        pane_text_cut(l->p, l->row, col, l->p->cols - col, STYLE_BAD, m->reason);
        break;
    }
    l->row++;
}

static void add_now(struct space_lines *l, const struct along *a, const struct trial *now)
{
    const struct model *m = &a->app->model;
    char text[128], number[24], name[32];
    double per;
    int col = 2 + a->width + 2, room = l->p->cols - col;
    value_text(a->param, now->config.slot + a->param->offset, text);
    pane_text(l->p, l->row, 0, STYLE_BEST, ">");
    pane_text_cut(l->p, l->row, 2, a->width, STYLE_BEST, text);
    space_trial_name(now, name);
    speed_number(m, seconds_speed(m, a->rank.seconds), number);
    if (a->rank.seconds > 0)
        snprintf(text, sizeof text, "now   %s  %s %s", name, number, model_unit(m, &per));
    else
        snprintf(text, sizeof text, "now   %s  %s", name, trial_word(m, now));
    if (text_columns(text) > room && a->rank.seconds > 0)
        snprintf(text, sizeof text, "%s  %s  now", name, number);
    pane_text_cut(l->p, l->row++, col, room, STYLE_BEST, text);
}

// Of values on a line, now stands where it belongs; of others, first.
static bool comes_before(const struct param *p, const int32_t *a, const int32_t *now)
{
    return p->kind != PARAM_FACTORIZATION && p->kind != PARAM_PERMUTATION && a[0] < now[0];
}

static void add_along(struct space_lines *l, struct app *app, const struct space_moves *s,
                      int param, const struct trial *now)
{
    const struct param *p = &app->model.open.space->param[param];
    const int32_t *value = now->config.slot + p->offset;
    struct along a = {app, p, widen(p, value, 4), trial_rank(now)};
    for (int i = 0; i < s->moves.count; i++)
        if (s->moves.move[i].param == param)
            a.width = widen(p, s->moves.move[i].value, a.width);
    bool placed = false;
    int listed = 0;
    space_line(l, STYLE_HEAD, "Neighbours along %s", p->name);
    for (int i = 0; i < s->moves.count; i++) {
        const struct move *m = &s->moves.move[i];
        if (m->param != param)
            continue;
        if (!placed && !comes_before(p, m->value, value)) {
            add_now(l, &a, now);
            placed = true;
        }
        add_move(l, &a, m);
        listed++;
    }
    if (!placed)
        add_now(l, &a, now);
    int degree = param_degree(p, value);
    if (listed < degree)
        space_line(l, STYLE_DIM, s->complete ? "and %d more" : "looking at %d more",
                   degree - listed);
}

// --- best speed by value ---

struct bar {
    int32_t value[PARAM_MAX_WIDTH];
    struct rank rank;
    int64_t trials;
};

static struct bar bar_of(const struct value_facts *facts, int i)
{
    struct bar b = {.rank = facts->best[i], .trials = facts->trials[i]};
    value_facts_get(facts, i, b.value);
    return b;
}

// Values in their order when all of them can be shown, else the best ones, best first.
static int choose_bars(const struct value_facts *facts, const struct param *p, struct bar *bar)
{
    int count = 0;
    bool all = p->size <= MOST_BARS;
    for (uint64_t k = 0; all && k < p->size; k++) {
        int32_t value[PARAM_MAX_WIDTH];
        param_value(p, k, value);
        int i = value_facts_find(facts, p, value);
        if (i >= 0)
            bar[count++] = bar_of(facts, i);
    }
    for (int i = 0; !all && i < facts->seen.count; i++) {
        int at = count;
        while (at > 0 && rank_is_better(facts->best[i], bar[at - 1].rank))
            at--;
        if (at == MOST_BARS)
            continue;
        count += count < MOST_BARS;
        memmove(&bar[at + 1], &bar[at], (size_t)(count - 1 - at) * sizeof *bar);
        bar[at] = bar_of(facts, i);
    }
    return count;
}

static void add_bar(struct space_lines *l, struct app *app, const struct param *p,
                    const struct bar *b, int width, double fastest, bool is_now)
{
    const struct model *m = &app->model;
    char text[64], number[24], trials[24];
    value_text(p, b->value, text);
    snprintf(trials, sizeof trials, "(%" PRId64 ")%s", b->trials, b->rank.raced ? " r" : "");
    speed_number(m, seconds_speed(m, b->rank.seconds), number);
    int col = 2 + width + 2, room = l->p->cols - col - 16;
    pane_text_cut(l->p, l->row, 2, width, is_now ? STYLE_BEST : STYLE_TEXT, text);
    if (room > 24)
        room = 24;
    if (room > 3 && b->rank.seconds > 0) {
        pane_bar(l->p, l->row, col, room, is_now ? STYLE_BEST : STYLE_SERIES,
                 fastest / b->rank.seconds);
        col += room;
    } else if (room > 3) {
        col += room;
    }
    pane_text_right(l->p, l->row, col + 8, is_now ? STYLE_BEST : STYLE_TEXT,
                    b->rank.seconds > 0 ? number : "none ok");
    pane_text(l->p, l->row++, col + 9, STYLE_DIM, trials);
}

static void add_bars(struct space_lines *l, struct app *app, const struct space_view *v, int param,
                     const struct trial *now)
{
    const struct param *p = &app->model.open.space->param[param];
    const struct value_facts *facts = &v->coverage.of[param];
    struct bar bar[MOST_BARS + 1];
    int count = choose_bars(facts, p, bar), width = 4;
    double per, fastest = 0;
    bool raced = false;
    for (int i = 0; i < count; i++) {
        width = widen(p, bar[i].value, width);
        if (bar[i].rank.seconds > 0 && (fastest <= 0 || bar[i].rank.seconds < fastest))
            fastest = bar[i].rank.seconds;
        raced |= bar[i].rank.raced;
    }
    double read = scan_share(&v->coverage.scan, &app->model);
    char so_far[24] = "";
    if (read < 0.995)
        snprintf(so_far, sizeof so_far, ", %.0f %% read", 100 * read);
    space_line(l, STYLE_HEAD, "Best %s by %s (trials%s)%s", model_unit(&app->model, &per), p->name,
               raced ? "; r: raced" : "", so_far);
    for (int i = 0; i < count; i++) {
        size_t bytes = (size_t)p->width * sizeof(int32_t);
        bool is_now = now && memcmp(bar[i].value, now->config.slot + p->offset, bytes) == 0;
        add_bar(l, app, p, &bar[i], width, fastest, is_now);
    }
    if (count < facts->seen.count)
        space_line(l, STYLE_DIM, "and %d%s values more", facts->seen.count - count,
                   facts->full ? " or more" : "");
    if (count == 0)
        space_line(l, STYLE_DIM, "  no trial has ended yet");
}

// --- the pane ---

static const char *whose(struct app *app, const struct trial *now)
{
    if (!app->follow && app->selected == now->ask)
        return "the selected one";
    return now->ask == app->model.open.record.best_ask ? "the best" : "the newest";
}

void space_moves_title(struct app *app, const struct space_view *v, char title[96], char note[96])
{
    const struct param *p = space_chosen(app, v);
    const struct trial *now = space_now(app);
    char name[32];
    title[0] = note[0] = '\0';
    if (p)
        snprintf(title, 96, "Moves of %.40s", p->name);
    if (p && now)
        snprintf(note, 96, "now: %s, %s", space_trial_name(now, name), whose(app, now));
}

void space_moves_draw(struct app *app, struct space_view *v, const struct pane *p)
{
    const struct param *param = space_chosen(app, v);
    const struct trial *found = space_now(app);
    if (!param)
        return;
    struct trial now = found ? *found : (struct trial){.ask = 0}; // outlives look-ups
    int i = v->cursor[SECTION_PARAMS];
    list_fit(&v->moves, v->moves.count, p->rows);
    struct space_lines l = {.p = p, .row = -(int)v->moves.top};
    space_graph_add(&l, param, found ? now.config.slot + param->offset : NULL);
    const struct space_moves *s = v->counted.ask == now.ask ? &v->counted : &v->counting;
    if (found && s->ask == now.ask) {
        l.row++;
        add_along(&l, app, s, i, &now);
        l.row++;
        struct fates_sum sum =
            fates_sum(&s->moves, app->model.open.space, FATES_ALL, trial_rank(&now));
        space_line(&l, STYLE_HEAD, "One step in any parameter");
        char seen[24] = "";
        if (sum.looked_at < sum.candidates)
            snprintf(seen, sizeof seen, "%d of ", sum.looked_at);
        const char *format = l.p->cols >= 46 ? "  %s%d candidates   %d valid   %d tried   %d better"
                                             : "  %s%d, %d valid, %d tried, %d better";
        char text[128];
        snprintf(text, sizeof text, format, seen, sum.candidates, sum.valid, sum.tried, sum.better);
        space_line(&l, STYLE_TEXT, "%s", text);
    }
    l.row++;
    add_bars(&l, app, v, i, found ? &now : NULL);
    v->moves.count = l.row + v->moves.top;
    if (l.row > p->rows && p->rows > 1) {
        char more[40];
        enum action there = v->section == SECTION_RULES ? ACT_NEXT_PANE : ACT_PREVIOUS_PANE;
        snprintf(more, sizeof more, "%s more",
                 app_key_of(app, v->on_moves ? ACT_PAGE_DOWN : there));
        struct pane below = pane_part(p, p->rows - 1, 0, 1, p->cols);
        pane_fill(&below, STYLE_TEXT, ' ');
        pane_text_right(p, p->rows - 1, p->cols, STYLE_KEY, more);
    }
}
