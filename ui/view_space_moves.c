#include "base/number.h"
#include "text.h"
#include "view_space.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROWS   3  // of values side by side, where the pane has
#define HIGH        20 // rows; else one
#define MOST_LISTS  9  // of a custom graph
#define MANY        24 // values
#define MOST_BARS   32
#define WIDEST_TEXT 24 // of a value
#define WIDEST_BAR  24

// Returns the columns of a value. Writes its text into `out`, which is emptied first; NULL:
// nowhere.
static int value_text(const struct param *p, const int32_t *value, struct str *out)
{
    struct str own = {0}, *text = out ? out : &own;
    text->length = 0;
    str_add(text, "");
    value_add_text(p, value, text);
    int cols = text_columns(str_text(text));
    str_finish(&own);
    return cols;
}

// --- the graph of a discrete parameter: a path ---

struct path { // values first .. last of it are shown, `cols` wide
    int first, last, cols;
};

// Grows the path from the value that is now to both sides, as far as there is room.
static struct path fit_path(const struct param *p, int now, int gap, int room)
{
    struct path path = {now, now, value_text(p, &(int32_t){now}, NULL)};
    for (bool grew = true; grew;) {
        grew = false;
        for (int side = 0; side < 2; side++) {
            int next = side ? path.last + 1 : path.first - 1;
            if (next < 0 || next >= p->count)
                continue;
            int cols = value_text(p, &(int32_t){next}, NULL) + gap;
            if (path.cols + cols > room)
                continue;
            path.cols += cols;
            *(side ? &path.last : &path.first) = next;
            grew = true;
        }
    }
    return path;
}

// --- the graphs of other parameters: values side by side, in a few rows ---

struct flow {
    struct lines *l;
    int col, row, left, dropped; // `left`: where rows begin
};

static void flow_add(struct flow *f, enum style style, const char *text)
{
    int cols = text_columns(text), room = f->l->p->cols;
    if (f->col > f->left && f->col + cols > room) {
        f->row++;
        f->col = f->left;
    }
    if (f->row == (f->l->p->rows < HIGH ? 1 : MOST_ROWS)) {
        f->row--;
        f->col = room;
        f->dropped++;
    } else if (f->dropped > 0) {
        f->dropped++;
    } else {
        f->col = 2 + pane_text_cut(f->l->p, f->l->row + f->row, f->col, room - f->col, style, text);
    }
}

static void flow_end(struct flow *f)
{
    f->l->row += f->row + 1;
    if (f->dropped > 0)
        lines_add(f->l, STYLE_DIM, "and %d more", f->dropped);
}

// Adds the results of one step: for a factorization or a permutation.
static void add_steps(struct lines *l, const struct param *p, const int32_t *value,
                      const char *rule)
{
    lines_add(l, STYLE_DIM, "%s", rule);
    if (!value)
        return;
    struct flow f = {.l = l};
    struct str text = {0};
    int32_t other[PARAM_MAX_WIDTH];
    int degree = param_degree(p, value);
    value_text(p, value, &text);
    f.col = pane_line(l->p, l->row, 0, STYLE_BEST, "%s", str_text(&text));
    f.left = f.col = 2 + pane_text(l->p, l->row, f.col, STYLE_FRAME, degree > 0 ? " →" : "");
    for (int k = 0; k < degree && f.dropped == 0; k++) {
        param_neighbour(p, value, k, other);
        value_text(p, other, &text);
        flow_add(&f, STYLE_TEXT, str_text(&text));
        if (f.dropped > 0)
            f.dropped = degree - k;
    }
    flow_end(&f);
    str_finish(&text);
}

// Adds the declared edges of a custom parameter, a row for each value around the one that is now.
static void add_edges(struct lines *l, const struct param *p, const int32_t *value)
{
    int now = value ? *value : -1, names = 0, count = int_min(p->count, MOST_LISTS);
    int first = int_min(int_max(now - MOST_LISTS / 2, 0), p->count - count);
    struct str text = {0};
    for (int i = first; i < first + count; i++)
        names = int_max(names, value_text(p, &(int32_t){i}, NULL));
    names = int_min(names, l->p->cols / 3);
    for (int i = first; i < first + count; i++) {
        enum style style = i == now ? STYLE_BEST : STYLE_TEXT;
        value_text(p, &(int32_t){i}, &text);
        if (i == now)
            pane_text(l->p, l->row, 0, style, ">");
        pane_text_cut(l->p, l->row, 2, names, style, str_text(&text));
        pane_text(l->p, l->row, 3 + names, STYLE_FRAME, "─");
        text.length = 0;
        str_add(&text, "");
        for (int32_t k = p->edge_start[i]; k < p->edge_start[i + 1] && text.length < 300; k++) {
            str_add(&text, k > p->edge_start[i] ? ", " : "");
            value_add_text(p, p->edge + k, &text);
        }
        if (p->edge_start[i] == p->edge_start[i + 1])
            str_add(&text, "(no neighbour)");
        pane_text_cut(l->p, l->row++, 5 + names, l->p->cols - 5 - names, STYLE_TEXT,
                      str_text(&text));
    }
    str_finish(&text);
    if (count < p->count)
        lines_add(l, STYLE_DIM, "and %d values more", p->count - count);
    if (!p->connected)
        lines_add(l, STYLE_WARN, "not connected: some values cannot be reached from others");
}

void space_graph_add(struct lines *l, const struct param *p, const int32_t *value)
{
    switch (p->kind) {
    case PARAM_DISCRETE: {
        struct str text = {0};
        int now = value ? *value : 0, room = l->p->cols - 6; // for what is cut off on both sides
        int gap = 5, col = 0;
        struct path path = fit_path(p, now, gap, room);
        if (path.last - path.first + 1 < p->count)
            path = fit_path(p, now, gap = 3, room);
        if (path.first > 0)
            col = pane_text(l->p, l->row, col, STYLE_DIM, "… ");
        for (int i = path.first; i <= path.last; i++) {
            bool is_now = value && i == now;
            if (i > path.first)
                col = pane_text(l->p, l->row, col, STYLE_FRAME, gap == 5 ? " ─── " : " ─ ");
            value_text(p, &(int32_t){i}, &text);
            if (is_now)
                pane_text(l->p, l->row + 1, col, STYLE_BEST, "▲ now");
            col = pane_line(l->p, l->row, col, is_now ? STYLE_BEST : STYLE_TEXT, "%s",
                            str_text(&text));
        }
        if (path.last < p->count - 1)
            pane_text(l->p, l->row, col, STYLE_DIM, " …");
        l->row += value ? 2 : 1;
        str_finish(&text);
    } break;
    case PARAM_CATEGORICAL: {
        // The values are in their order; where there are very many, the one that is now comes
        // first.
        struct flow f = {.l = l};
        struct str text = {0}, whole = {0};
        int first = value && p->count > MANY ? *value : 0;
        lines_add(l, STYLE_DIM, "each value is one step from every other");
        for (int i = 0; i < p->count && f.dropped == 0; i++) {
            int32_t at = (int32_t)((first + i) % p->count);
            bool is_now = value && at == *value;
            value_text(p, &at, &text);
            whole.length = 0;
            str_printf(&whole, is_now ? "[%s] now" : "%s", str_text(&text));
            flow_add(&f, is_now ? STYLE_BEST : STYLE_TEXT, str_text(&whole));
            if (f.dropped > 0)
                f.dropped = p->count - i;
        }
        flow_end(&f);
        str_finish(&text);
        str_finish(&whole);
    } break;
    case PARAM_CUSTOM: add_edges(l, p, value); break;
    case PARAM_PERMUTATION: add_steps(l, p, value, "any two swap places"); break;
    case PARAM_FACTORIZATION:
        add_steps(l, p, value, "a prime factor moves from one part to another");
        break;
    }
}

// --- the neighbours along one parameter ---

struct along { // for all lines
    const struct model *model;
    const struct param *param;
    int width; // of values
    const struct trial *now;
    struct rank rank; // of now
};

static void put_value(const struct lines *l, const struct param *p, int width, enum style style,
                      const int32_t *value)
{
    struct str text = {0};
    value_text(p, value, &text);
    pane_text_cut(l->p, l->row, 2, width, style, str_text(&text));
    str_finish(&text);
}

static void add_neighbour(struct lines *l, const struct along *a, const struct neighbour *n)
{
    int col = 2 + a->width + 2, room = l->p->cols - col;
    bool dim = n->status == NEIGHBOUR_FORBIDDEN || n->status == NEIGHBOUR_RULE_FAILED;
    put_value(l, a->param, a->width, dim ? STYLE_DIM : STYLE_TEXT, n->value);
    switch (n->status) {
    case NEIGHBOUR_TRIED: {
        double per, now = a->rank.seconds, seconds = n->rank.seconds;
        char number[24], against[32] = "", text[128];
        if (seconds <= 0) { // it failed, or its result was not verified
            bool ok = n->outcome == OUTCOME_OK;
            snprintf(text, sizeof text, "tried #%" PRId64 "  %s", n->number,
                     ok ? "ok, not verified again" : outcome_name(n->outcome));
            pane_text_cut(l->p, l->row, col, room, ok ? STYLE_WARN : STYLE_BAD, text);
            break;
        }
        // Words and the unit are left out where there is no room for them.
        bool better = now > 0 && rank_is_better(n->rank, a->rank);
        speed_number(a->model, seconds_speed(a->model, seconds), number);
        if (now > 0)
            snprintf(against, sizeof against, "  (%+.1f %%)", 100 * (now / seconds - 1));
        snprintf(text, sizeof text, "tried #%" PRId64 "  %s %s%s", n->number, number,
                 model_unit(a->model, &per), against);
        if (text_columns(text) > room)
            snprintf(text, sizeof text, "#%" PRId64 "  %s%s", n->number, number, against);
        pane_text_cut(l->p, l->row, col, room, better ? STYLE_GOOD : STYLE_TEXT, text);
        break;
    }
    case NEIGHBOUR_IN_FLIGHT: pane_text_cut(l->p, l->row, col, room, STYLE_DIM, "in flight"); break;
    case NEIGHBOUR_UNTRIED:
        pane_text_cut(l->p, l->row, col, room, STYLE_TEXT, "valid, untried");
        break;
    case NEIGHBOUR_FORBIDDEN:
        col = pane_text(l->p, l->row, col, STYLE_WARN, "x ");
        pane_line(l->p, l->row, col, STYLE_DIM, "%s", n->reason);
        break;
    case NEIGHBOUR_RULE_FAILED:
        col = pane_text(l->p, l->row, col, STYLE_BAD, "rule fails: ");
        pane_line(l->p, l->row, col, STYLE_BAD, "%s", n->reason);
        break;
    }
    l->row++;
}

static const char *trial_name(const struct trial *t, char out[32])
{
    if (t->number > 0)
        snprintf(out, 32, "#%" PRId64, t->number);
    else
        snprintf(out, 32, "ask %" PRId64, t->ask);
    return out;
}

static void add_now(struct lines *l, const struct along *a)
{
    char text[128], number[24], name[32];
    double per;
    int col = 2 + a->width + 2, room = l->p->cols - col;
    pane_text(l->p, l->row, 0, STYLE_BEST, ">");
    put_value(l, a->param, a->width, STYLE_BEST, a->now->config.slot + a->param->offset);
    trial_name(a->now, name);
    speed_number(a->model, seconds_speed(a->model, a->rank.seconds), number);
    if (a->rank.seconds > 0)
        snprintf(text, sizeof text, "now   %s  %s %s", name, number, model_unit(a->model, &per));
    else
        snprintf(text, sizeof text, "now   %s  %s", name, trial_word(a->model, a->now));
    if (text_columns(text) > room && a->rank.seconds > 0)
        snprintf(text, sizeof text, "%s  %s  now", name, number);
    pane_text_cut(l->p, l->row++, col, room, STYLE_BEST, text);
}

static void add_along(struct lines *l, const struct model *m, const struct space_moves *s,
                      int param, const struct trial *now)
{
    const struct param *p = &m->open.space->param[param];
    const int32_t *value = now->config.slot + p->offset;
    struct along a = {m, p, int_max(value_text(p, value, NULL), 4), now, trial_rank(now)};
    // A value on a line stands where it belongs; another comes before its neighbours.
    bool on_line = p->kind != PARAM_FACTORIZATION && p->kind != PARAM_PERMUTATION;
    bool placed = false;
    int listed = 0, degree = param_degree(p, value);
    for (int i = 0; i < s->moves.count; i++)
        if (s->moves.neighbour[i].param == param)
            a.width = int_max(a.width, value_text(p, s->moves.neighbour[i].value, NULL));
    a.width = int_min(a.width, WIDEST_TEXT);
    lines_add(l, STYLE_HEAD, "Neighbours along %s", p->name);
    for (int i = 0; i < s->moves.count; i++) {
        const struct neighbour *n = &s->moves.neighbour[i];
        if (n->param != param)
            continue;
        if (!placed && !(on_line && n->value[0] < value[0])) {
            add_now(l, &a);
            placed = true;
        }
        add_neighbour(l, &a, n);
        listed++;
    }
    if (!placed)
        add_now(l, &a);
    if (listed < degree)
        lines_add(l, STYLE_DIM, s->complete ? "and %d more" : "looking at %d more",
                  degree - listed);
}

// --- best speed by value ---

// Lists values, as indices of `facts`: in their order when all of them can be shown, else the best
// ones, best first.
static int choose_bars(const struct value_facts *facts, const struct param *p,
                       int bar[MOST_BARS + 1])
{
    int count = 0;
    bool all = p->size <= MOST_BARS;
    for (uint64_t k = 0; all && k < p->size; k++) {
        int32_t value[PARAM_MAX_WIDTH];
        param_value(p, k, value);
        int i = value_facts_find(facts, p, value);
        if (i >= 0)
            bar[count++] = i;
    }
    for (int i = 0; !all && i < facts->seen.count; i++) {
        int at = count;
        while (at > 0 && rank_is_better(facts->best[i], facts->best[bar[at - 1]]))
            at--;
        if (at == MOST_BARS)
            continue;
        count += count < MOST_BARS;
        memmove(&bar[at + 1], &bar[at], (size_t)(count - 1 - at) * sizeof *bar);
        bar[at] = i;
    }
    return count;
}

static void add_bars(struct lines *l, const struct model *m, const struct coverage *coverage,
                     int param, const struct trial *now)
{
    const struct param *p = &m->open.space->param[param];
    const struct value_facts *facts = &coverage->of[param];
    int bar[MOST_BARS + 1], count = choose_bars(facts, p, bar), width = 4;
    double per, fastest = 0, read = scan_share(&coverage->scan, m);
    bool raced = false;
    char so_far[24] = "";
    for (int i = 0; i < count; i++) {
        struct rank rank = facts->best[bar[i]];
        struct config value;
        config_set_get(&facts->seen, bar[i], &value);
        width = int_max(width, int_min(value_text(p, value.slot, NULL), WIDEST_TEXT));
        if (rank.seconds > 0 && (fastest <= 0 || rank.seconds < fastest))
            fastest = rank.seconds;
        raced |= rank.raced;
    }
    if (read < 0.995)
        snprintf(so_far, sizeof so_far, ", %.0f %% read", 100 * read);
    lines_add(l, STYLE_HEAD, "Best %s by %s (trials%s)%s", model_unit(m, &per), p->name,
              raced ? "; r: raced" : "", so_far);
    for (int i = 0; i < count; i++) {
        char number[24], trials[24];
        struct config value; // in the first slots
        struct rank rank = facts->best[bar[i]];
        config_set_get(&facts->seen, bar[i], &value);
        size_t bytes = (size_t)p->width * sizeof(int32_t);
        bool is_now = now && memcmp(value.slot, now->config.slot + p->offset, bytes) == 0;
        enum style style = is_now ? STYLE_BEST : STYLE_TEXT;
        int col = 2 + width + 2, room = int_min(l->p->cols - col - 16, WIDEST_BAR);
        put_value(l, p, width, style, value.slot);
        if (room > 3 && rank.seconds > 0)
            pane_bar(l->p, l->row, col, room, is_now ? STYLE_BEST : STYLE_SERIES,
                     fastest / rank.seconds);
        col += room > 3 ? room : 0;
        speed_number(m, seconds_speed(m, rank.seconds), number);
        pane_text_right(l->p, l->row, col + 8, style, rank.seconds > 0 ? number : "none ok");
        snprintf(trials, 24, "(%" PRId64 ")%s", facts->trials[bar[i]], rank.raced ? " r" : "");
        pane_text(l->p, l->row++, col + 9, STYLE_DIM, trials);
    }
    if (count < facts->seen.count)
        lines_add(l, STYLE_DIM, "and %d%s values more", facts->seen.count - count,
                  facts->full ? " or more" : "");
    if (count == 0)
        lines_add(l, STYLE_DIM, "  no trial has ended yet");
}

// --- the pane ---

void space_moves_title(struct app *app, const struct space_view *v, char title[96], char note[96])
{
    const struct param *p = space_chosen(app, v);
    const struct trial *now = space_now(app);
    char name[32];
    title[0] = note[0] = '\0';
    if (p)
        snprintf(title, 96, "Moves of %.40s", p->name);
    if (p && now)
        snprintf(note, 96, "now: %s, %s", trial_name(now, name),
                 !app->follow && app->selected == now->ask     ? "the selected one"
                 : now->ask == app->model.open.record.best_ask ? "the best"
                                                               : "the newest");
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
    struct lines l = {.p = p, .row = -(int)v->moves.top};
    space_graph_add(&l, param, found ? now.config.slot + param->offset : NULL);
    const struct space_moves *s = v->counted.ask == now.ask ? &v->counted : &v->counting;
    if (found && s->ask == now.ask) {
        l.row++;
        add_along(&l, &app->model, s, i, &now);
        l.row++;
        struct neighbourhood_counts n = neighbourhood_counts(&s->moves, app->model.open.space,
                                                             NEIGHBOURHOOD_ALL, trial_rank(&now));
        char seen[24] = "";
        if (n.looked_at < n.candidates)
            snprintf(seen, sizeof seen, "%d of ", n.looked_at);
        lines_add(&l, STYLE_HEAD, "One step in any parameter");
        if (p->cols >= 46)
            lines_add(&l, STYLE_TEXT, "  %s%d candidates   %d valid   %d tried   %d better", seen,
                      n.candidates, n.valid, n.tried, n.better);
        else
            lines_add(&l, STYLE_TEXT, "  %s%d, %d valid, %d tried, %d better", seen, n.candidates,
                      n.valid, n.tried, n.better);
    }
    l.row++;
    add_bars(&l, &app->model, &v->coverage, i, found ? &now : NULL);
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
