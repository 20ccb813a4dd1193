#include "base/number.h"
#include "text.h"
#include "view_space.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MARK        2 // columns of the cursor
#define LEAST_NOW   9
#define DEGREE_COLS 4 // with the blank before
#define USED_COLS   8 // without

const struct trial *space_now(struct app *app)
{
    struct model *m = &app->model;
    const struct trial *t = NULL;
    if (!m->open.space)
        return NULL;
    if (!app->follow && app->selected > 0)
        t = model_trial(m, app->selected);
    if (!t || !t->has_config)
        t = model_best(m);
    if (!t || !t->has_config)
        t = model_trial_numbered(m, m->open.last_number);
    return t && t->has_config ? t : NULL;
}

const struct param *space_chosen(const struct app *app, const struct space_view *v)
{
    const struct space *s = app->model.open.space;
    return s ? &s->param[v->cursor[SECTION_PARAMS]] : NULL;
}

// --- the rows: a head, parameters, a blank; a head, constraints, limits, all of them together ---

struct places {   // rows of the list
    int rules;    // the head of the rules; the parameters are above it
    int limits;   // the first device limit
    int removing; // limits that remove something: each has a row, the others share one
    int sum;      // the last row
};

static struct places places_of(const struct app *app, const struct space_view *v)
{
    const struct space *s = app->model.open.space;
    bool limited = s->resources && app->model.open.has_limits;
    struct places at = {.rules = 2 + s->param_count};
    at.limits = at.rules + 1 + s->constraint_count;
    for (int i = LIMIT_NONE + 1; i < LIMIT_COUNT; i++)
        at.removing += limited && v->shares.sum.by_limit[i] > 0;
    at.sum = at.limits + at.removing + limited;
    return at;
}

bool space_list_at(const struct app *app, int row, enum space_section *section, int *item)
{
    const struct space *s = app->model.open.space;
    if (!s)
        return false;
    int rules = 2 + s->param_count;
    *section = row > rules ? SECTION_RULES : SECTION_PARAMS;
    *item = row > rules ? row - rules - 1 : row - 1;
    return *item >= 0 && *item < (row > rules ? s->constraint_count : s->param_count);
}

// --- columns ---

struct columns { // where each begins, or ends (numbers); 0: not shown
    int name, kind, values, now, degree, used, end;
};

// --- parameters ---

static void draw_param(struct app *app, const struct space_view *v, const struct columns *c,
                       const struct pane *p, int row, int i)
{
    const struct param *param = &app->model.open.space->param[i];
    const struct trial *now = space_now(app);
    struct str text = {0};
    char number[48];
    int names = (c->kind ? c->kind : c->values ? c->values : c->now) - c->name - 1;
    bool chosen = i == v->cursor[SECTION_PARAMS];
    pane_text_cut(p, row, c->name, names, chosen ? STYLE_STRONG : STYLE_TEXT, param->name);
    if (c->kind)
        pane_text_cut(p, row, c->kind, 13, STYLE_DIM, param_kind_name(param->kind));
    if (param->kind == PARAM_FACTORIZATION)
        str_printf(&text, "%" PRId32 ", %d parts", param->product, param->width);
    for (int k = 0; param->kind != PARAM_FACTORIZATION && k < param->count && text.length < 80;
         k++) {
        str_add(&text, k > 0 ? " " : "");
        if (param->label)
            str_add(&text, param->label[k]);
        else
            str_add_real(&text, param->number[k]);
    }
    if (c->values)
        pane_text_cut(p, row, c->values, c->now - c->values - 1, STYLE_DIM, str_text(&text));
    str_finish(&text);
    int end = c->degree ? c->degree - DEGREE_COLS : c->end;
    if (now)
        value_add_text(param, now->config.slot + param->offset, &text);
    pane_text_cut(p, row, c->now, end - c->now, STYLE_TEXT, str_text(&text));
    str_finish(&text);
    if (c->degree && now) {
        snprintf(number, 48, "%d", param_degree(param, now->config.slot + param->offset));
        pane_text_right(p, row, c->degree, STYLE_TEXT, number);
    }
    // "8/21", and "2 %" where that would be too long for its column.
    const struct value_facts *facts = &v->coverage.of[i];
    double share = 100 * (double)facts->seen.count / (double)param->size;
    snprintf(number, 48, "%d%s/%" PRIu64, facts->seen.count, facts->full ? "+" : "", param->size);
    if (strlen(number) > USED_COLS)
        snprintf(number, 48, share < 1 ? "< 1 %%" : "%.0f %%", share);
    if (c->used)
        pane_text_right(p, row, c->used, STYLE_TEXT, number);
}

// --- rules ---

static void draw_share(const struct space_view *v, const struct pane *p, int row, uint64_t points)
{
    const struct survey *s = &v->shares.sum;
    char text[16];
    if (s->points == 0)
        return;
    double percent = 100 * share_of(&v->shares, points);
    snprintf(text, sizeof text, percent < 0.1 ? "< 0.1 %%" : "%.1f %%", percent);
    enum style style = points == s->points ? STYLE_BAD : points > 0 ? STYLE_TEXT : STYLE_DIM;
    pane_text_right(p, row, p->cols, style, points > 0 ? text : "nothing");
}

static void draw_constraint(struct app *app, const struct space_view *v, const struct pane *p,
                            int row, int i)
{
    const struct constraint *c = &app->model.open.space->constraint[i];
    const char *file = strrchr(c->file, '/');
    int end = p->cols - 9, name = text_columns(c->name);
    char place[80];
    snprintf(place, sizeof place, "%.60s:%d", file ? file + 1 : c->file, c->line);
    // The file's name is left out where there is no room for it and the whole name.
    if (MARK + name + 2 + text_columns(place) > end)
        snprintf(place, sizeof place, ":%d", c->line);
    if (p->cols >= 30) {
        pane_text_right(p, row, end, STYLE_DIM, place);
        end -= text_columns(place) + 1;
    }
    pane_text_cut(p, row, MARK, end - MARK, STYLE_TEXT, c->name);
    if (v->shares.sum.points > 0)
        draw_share(v, p, row, v->shares.sum.by_constraint[i]);
}

// Draws the limit that is at place `at` among those that remove something, else all others.
static void draw_limit(const struct space_view *v, const struct pane *p, int row, int at,
                       int removing)
{
    const uint64_t *removed = v->shares.sum.by_limit;
    int limit = LIMIT_NONE, others = LIMIT_COUNT - 1 - removing;
    for (int left = at; left >= 0 && limit < LIMIT_COUNT;)
        if (++limit < LIMIT_COUNT && removed[limit] > 0)
            left--;
    if (limit == LIMIT_COUNT) {
        pane_printf(p, row, MARK, STYLE_DIM, "%s%d limits of the device",
                    others < LIMIT_COUNT - 1 ? "the other " : "the ", others);
        draw_share(v, p, row, 0);
        return;
    }
    pane_text_cut(p, row, MARK, p->cols - MARK - 9, STYLE_TEXT, limit_name((enum limit)limit));
    if (p->cols >= 34)
        pane_text_right(p, row, p->cols - 9, STYLE_DIM, "device");
    draw_share(v, p, row, removed[limit]);
}

// --- the pane ---

static bool has_legal(const struct shares *s)
{
    return s->legal[0] && !str_equal(s->legal, "0");
}

static void draw_row(struct app *app, const struct space_view *v, const struct columns *c,
                     const struct pane *p, int row, int at)
{
    enum space_section section;
    struct places places = places_of(app, v);
    int item;
    if (space_list_at(app, at, &section, &item)) {
        if (section == SECTION_PARAMS)
            draw_param(app, v, c, p, row, item);
        else
            draw_constraint(app, v, p, row, item);
        // The chosen parameter stays marked while the cursor is on the rules.
        if (item == v->cursor[section] && (section == v->section || section == SECTION_PARAMS))
            pane_select(p, row, section == v->section && !v->on_moves);
    } else if (at == 0) {
        pane_text(p, row, c->name, STYLE_HEAD, "name");
        if (c->kind)
            pane_text(p, row, c->kind, STYLE_HEAD, "kind");
        if (c->values)
            pane_text(p, row, c->values, STYLE_HEAD, "values");
        pane_text_cut(p, row, c->now, c->end - c->now, STYLE_HEAD, "now");
        if (c->degree)
            pane_text_right(p, row, c->degree, STYLE_HEAD, "nbr");
        if (c->used)
            pane_text_right(p, row, c->used, STYLE_HEAD, "used");
    } else if (at == places.rules) {
        pane_line(p, row, MARK, STYLE_HEAD, "constraints and limits");
        const char *head = p->cols >= 44 ? "removes alone" : "alone";
        if (p->cols >= 34)
            pane_text_right(p, row, p->cols, STYLE_HEAD,
                            v->shares.sum.points > 0 ? head : "counting");
    } else if (at >= places.limits && at < places.sum) {
        draw_limit(v, p, row, at - places.limits, places.removing);
    } else if (at == places.sum) {
        const struct survey *s = &v->shares.sum;
        char text[96];
        double share = share_of(&v->shares, s->valid);
        if (s->exact)
            snprintf(text, sizeof text, "valid %" PRIu64 " of %" PRIu64 ", exactly", s->valid,
                     s->points);
        else if (v->shares.legal[0])
            snprintf(text, sizeof text, "valid %.40s of %.40s, exactly", v->shares.legal,
                     app->model.open.space->size_text);
        else
            snprintf(text, sizeof text, "valid %.1f ±%.1f %%  of %" PRIu64 " points drawn",
                     100 * share, 100 * share_error(&v->shares, share), s->points);
        if (v->shares.trouble.text[0])
            pane_line(p, row, MARK, STYLE_BAD, "%s", v->shares.trouble.text);
        else if (s->points > 0)
            pane_line(p, row, MARK,
                      s->valid > 0 || has_legal(&v->shares) ? STYLE_STRONG : STYLE_BAD, "%s", text);
    }
}

void space_list_draw(struct app *app, struct space_view *v, const struct pane *p)
{
    const struct space *s = app->model.open.space;
    if (!s) {
        bool whole = app->model.open.record.scheduler != NULL;
        int row = pane_wrapped(p, 0, 0, p->cols, whole ? STYLE_DIM : STYLE_WARN,
                               whole ? "A network's spaces are those of its tasks (screen Network)."
                                     : "The space of this session does not load:");
        pane_wrapped(p, row, 0, p->cols, STYLE_WARN, app->model.open.trouble.text);
        return;
    }
    // Columns that are left out first, when there is no room: values, kind, used, neighbours.
    int cols = p->cols;
    struct columns c = {.name = MARK, .end = cols};
    int names = 4;
    for (int i = 0; i < s->param_count; i++)
        names = int_max(names, text_columns(s->param[i].name));
    names = int_min(names, 12);
    int room = cols - MARK - names - 1 - LEAST_NOW;
    if (room >= DEGREE_COLS) {
        c.degree = cols;
        room -= DEGREE_COLS;
    }
    if (room >= USED_COLS + 1) {
        c.used = cols;
        c.degree = cols - USED_COLS - 1;
        room -= USED_COLS + 1;
    }
    int at = MARK + names + 1;
    if (room >= 14) {
        c.kind = at;
        at += 14;
        room -= 14;
    }
    if (room >= 10) {
        c.values = at;
        at += room < 14 ? room : 14 + (room - 14) * 2 / 3; // values may be longer than now
    }
    c.now = at;
    struct places places = places_of(app, v);
    int rows = p->rows, item = v->cursor[v->section], count = places.sum + 1;
    bool rule = v->section == SECTION_RULES;
    // The window shows the row of the cursor, with the head above the first ones and with what is
    // below the last ones.
    list_point(&v->list, 0, item + (rule ? places.rules + 1 : 1));
    if (rule && item == s->constraint_count - 1)
        v->list.top = count - rows;
    list_fit(&v->list, count, rows);
    if (rows > 2 && item == 0 && v->list.top == v->list.cursor)
        v->list.top--;
    for (int row = 0; row < rows; row++)
        draw_row(app, v, &c, p, row, (int)v->list.top + row);
}
