#include "report/text.h"
#include "trial_text.h"
#include "view_space.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROWS  3  // of values side by side, where the pane has
#define HIGH       20 // rows; else one
#define MOST_LISTS 9  // of a custom graph
#define MANY       24 // values

static void empty(struct str *s)
{
    s->length = 0;
    str_add(s, "");
}

static int text_of(const struct param *p, const int32_t *value, struct str *out)
{
    empty(out);
    value_add_text(p, value, out);
    return text_columns(str_text(out));
}

// --- a path: discrete ---

struct path { // values first .. last of it are shown, `cols` wide
    int first, last, cols;
};

static int columns_of(const struct param *p, int index)
{
    struct str text = {0};
    int cols = text_of(p, &(int32_t){index}, &text);
    str_finish(&text);
    return cols;
}

// Grows from the value that is now to both sides, as far as there is room.
static struct path fit_path(const struct param *p, int now, int gap, int room)
{
    struct path path = {now, now, columns_of(p, now)};
    for (bool grew = true; grew;) {
        grew = false;
        for (int side = 0; side < 2; side++) {
            int next = side ? path.last + 1 : path.first - 1;
            if (next < 0 || next >= p->count)
                continue;
            int cols = columns_of(p, next) + gap;
            if (path.cols + cols > room)
                continue;
            path.cols += cols;
            *(side ? &path.last : &path.first) = next;
            grew = true;
        }
    }
    return path;
}

// --- values side by side, in a few rows ---

struct flow {
    struct space_lines *l;
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
        space_line(f->l, STYLE_DIM, "and %d more", f->dropped);
}

// Values in their order, but of very many the one that is now first.
static void add_complete(struct space_lines *l, const struct param *p, const int32_t *value)
{
    struct flow f = {.l = l};
    struct str text = {0};
    int first = value && p->count > MANY ? *value : 0;
    space_line(l, STYLE_DIM, "each value is one step from every other");
    for (int i = 0; i < p->count && f.dropped == 0; i++) {
        int32_t at = (int32_t)((first + i) % p->count);
        bool is_now = value && at == *value;
        empty(&text);
        str_add(&text, is_now ? "[" : "");
        value_add_text(p, &at, &text);
        str_add(&text, is_now ? "] now" : "");
        flow_add(&f, is_now ? STYLE_BEST : STYLE_TEXT, str_text(&text));
        if (f.dropped > 0)
            f.dropped = p->count - i;
    }
    flow_end(&f);
    str_finish(&text);
}

// What one step makes of the value: of a factorization or a permutation.
static void add_steps(struct space_lines *l, const struct param *p, const int32_t *value,
                      const char *rule)
{
    space_line(l, STYLE_DIM, "%s", rule);
    if (!value)
        return;
    struct flow f = {.l = l};
    struct str text = {0};
    int32_t other[PARAM_MAX_WIDTH];
    int degree = param_degree(p, value);
    text_of(p, value, &text);
    f.col = pane_text_cut(l->p, l->row, 0, l->p->cols, STYLE_BEST, str_text(&text));
    f.left = f.col = 2 + pane_text(l->p, l->row, f.col, STYLE_FRAME, degree > 0 ? " →" : "");
    for (int k = 0; k < degree && f.dropped == 0; k++) {
        param_neighbour(p, value, k, other);
        text_of(p, other, &text);
        flow_add(&f, STYLE_TEXT, str_text(&text));
        if (f.dropped > 0)
            f.dropped = degree - k;
    }
    flow_end(&f);
    str_finish(&text);
}

// --- custom: its declared edges ---

static void add_edges(struct space_lines *l, const struct param *p, const int32_t *value)
{
    int now = value ? *value : -1, first = 0, names = 0;
    int count = p->count < MOST_LISTS ? p->count : MOST_LISTS;
    if (now > MOST_LISTS / 2)
        first = now - MOST_LISTS / 2;
    if (first > p->count - count)
        first = p->count - count;
    for (int i = first; i < first + count; i++)
        names = columns_of(p, i) > names ? columns_of(p, i) : names;
    if (names > l->p->cols / 3)
        names = l->p->cols / 3;
    for (int i = first; i < first + count; i++) {
        bool is_now = i == now;
        struct str text = {0};
        text_of(p, &(int32_t){i}, &text);
        enum style style = is_now ? STYLE_BEST : STYLE_TEXT;
        if (is_now)
            pane_text(l->p, l->row, 0, style, ">");
        pane_text_cut(l->p, l->row, 2, names, style, str_text(&text));
        pane_text(l->p, l->row, 3 + names, STYLE_FRAME, "─");
        empty(&text);
        for (int32_t k = p->edge_start[i]; k < p->edge_start[i + 1] && text.length < 300; k++) {
            str_add(&text, k > p->edge_start[i] ? ", " : "");
            value_add_text(p, p->edge + k, &text);
        }
        if (p->edge_start[i] == p->edge_start[i + 1])
            str_add(&text, "(no neighbour)");
        pane_text_cut(l->p, l->row++, 5 + names, l->p->cols - 5 - names, STYLE_TEXT,
                      str_text(&text));
        str_finish(&text);
    }
    if (count < p->count)
        space_line(l, STYLE_DIM, "and %d values more", p->count - count);
    if (!p->connected)
        space_line(l, STYLE_WARN, "not connected: some values cannot be reached from others");
}

void space_graph_add(struct space_lines *l, const struct param *p, const int32_t *value)
{
    switch (p->kind) {
    case PARAM_DISCRETE: {
        struct str text = {0};
        int now = value ? *value : 0, room = l->p->cols - 6; // for what is cut off on both sides
        struct path path = fit_path(p, now, 5, room);
        int gap = 5;
        if (path.last - path.first + 1 < p->count)
            path = fit_path(p, now, gap = 3, room);
        int col = 0;
        if (path.first > 0)
            col = pane_text(l->p, l->row, col, STYLE_DIM, "… ");
        for (int i = path.first; i <= path.last; i++) {
            if (i > path.first)
                col = pane_text(l->p, l->row, col, STYLE_FRAME, gap == 5 ? " ─── " : " ─ ");
            text_of(p, &(int32_t){i}, &text);
            bool is_now = value && i == now;
            if (is_now)
                pane_text(l->p, l->row + 1, col, STYLE_BEST, "▲ now");
            col = pane_text_cut(l->p, l->row, col, l->p->cols - col,
                                is_now ? STYLE_BEST : STYLE_TEXT, str_text(&text));
        }
        if (path.last < p->count - 1)
            pane_text(l->p, l->row, col, STYLE_DIM, " …");
        l->row += value ? 2 : 1;
        str_finish(&text);
    } break;
    case PARAM_CATEGORICAL: add_complete(l, p, value); break;
    case PARAM_CUSTOM: add_edges(l, p, value); break;
    case PARAM_PERMUTATION: add_steps(l, p, value, "any two swap places"); break;
    case PARAM_FACTORIZATION:
        add_steps(l, p, value, "a prime factor moves from one part to another");
        break;
    }
}

#define MARK        2 // columns of the cursor
#define LEAST_NOW   9
#define DEGREE_COLS 4 // with the blank before
#define USED_COLS   8 // without

static const struct space *space_of(const struct app *app)
{
    return app->model.open.space;
}

// --- the rows: a head, parameters, a blank; a head, constraints, limits, all of them together ---

int space_rule_count(const struct app *app)
{
    return space_of(app)->constraint_count;
}

static bool is_limited(const struct app *app)
{
    return space_of(app)->resources && app->model.open.has_limits;
}

// Limits that remove something have a row each, the others one together.
static int removing_limits(const struct app *app, const struct space_view *v)
{
    int count = 0;
    for (int i = LIMIT_NONE + 1; i < LIMIT_COUNT; i++)
        count += is_limited(app) && v->shares.sum.by_limit[i] > 0;
    return count;
}

static int rules_head(const struct app *app)
{
    return 2 + space_of(app)->param_count;
}

static int limits_row(const struct app *app)
{
    return rules_head(app) + 1 + space_rule_count(app);
}

static int sum_row(const struct app *app, const struct space_view *v)
{
    return limits_row(app) + removing_limits(app, v) + is_limited(app);
}

int space_list_rows(const struct app *app, const struct space_view *v)
{
    return space_of(app) ? sum_row(app, v) + 1 : 0;
}

bool space_list_at(const struct app *app, int row, enum space_section *section, int *item)
{
    if (!space_of(app))
        return false;
    bool rule = row > rules_head(app);
    *section = rule ? SECTION_RULES : SECTION_PARAMS;
    *item = rule ? row - rules_head(app) - 1 : row - 1;
    return *item >= 0 && *item < (rule ? space_rule_count(app) : space_of(app)->param_count);
}

// --- parameters ---

struct columns { // where each begins, or ends (numbers); 0: not shown
    int name, kind, values, now, degree, used, end;
};

static int longest_name(const struct space *s)
{
    int longest = 4;
    for (int i = 0; i < s->param_count; i++) {
        int cols = text_columns(s->param[i].name);
        longest = cols > longest ? cols : longest;
    }
    return longest < 12 ? longest : 12;
}

static void add_values(const struct param *p, struct str *out)
{
    if (p->kind == PARAM_FACTORIZATION) {
        str_printf(out, "%" PRId32 ", %d parts", p->product, p->width);
        return;
    }
    for (int i = 0; i < p->count && out->length < 80; i++) {
        str_add(out, i > 0 ? " " : "");
        if (p->label)
            str_add(out, p->label[i]);
        else
            str_add_real(out, p->number[i]);
    }
}

static void draw_param(struct app *app, const struct space_view *v, const struct columns *c,
                       const struct pane *p, int row, int i)
{
    const struct param *param = &space_of(app)->param[i];
    const struct trial *now = space_now(app);
    struct str text = {0};
    char number[48];
    int names = (c->kind ? c->kind : c->values ? c->values : c->now) - c->name - 1;
    bool chosen = i == v->cursor[SECTION_PARAMS];
    pane_text_cut(p, row, c->name, names, chosen ? STYLE_STRONG : STYLE_TEXT, param->name);
    if (c->kind)
        pane_text_cut(p, row, c->kind, 13, STYLE_DIM, param_kind_name(param->kind));
    add_values(param, &text);
    if (c->values)
        pane_text_cut(p, row, c->values, c->now - c->values - 1, STYLE_DIM, str_text(&text));
    str_finish(&text);
    int end = c->degree ? c->degree - DEGREE_COLS : c->end;
    if (now)
        value_add_text(param, now->config.slot + param->offset, &text);
    pane_text_cut(p, row, c->now, end - c->now, STYLE_TEXT, str_text(&text));
    str_finish(&text);
    if (c->degree && now) {
        snprintf(number, sizeof number, "%d",
                 param_degree(param, now->config.slot + param->offset));
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
    const struct constraint *c = &space_of(app)->constraint[i];
    const char *file = strrchr(c->file, '/');
    int end = p->cols - 9, name = text_columns(c->name);
    char place[80];
    snprintf(place, sizeof place, "%.60s:%d", file ? file + 1 : c->file, c->line);
    // The place where there is room for the whole name too; the line alone with half of that.
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

static void draw_limit(const struct app *app, const struct space_view *v, const struct pane *p,
                       int row, int at)
{
    const uint64_t *removed = v->shares.sum.by_limit;
    int limit = LIMIT_NONE, others = LIMIT_COUNT - 1 - removing_limits(app, v);
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

static void draw_sum(const struct space_view *v, const struct pane *p, int row)
{
    const struct survey *s = &v->shares.sum;
    char text[96];
    if (v->shares.trouble.text[0]) {
        pane_text_cut(p, row, MARK, p->cols - MARK, STYLE_BAD, v->shares.trouble.text);
        return;
    }
    if (s->points == 0)
        return;
    double share = share_of(&v->shares, s->valid);
    if (s->exact)
        snprintf(text, sizeof text, "valid %" PRIu64 " of %" PRIu64 ", exactly", s->valid,
                 s->points);
    else
        snprintf(text, sizeof text, "valid %.1f ±%.1f %%  of %" PRIu64 " points drawn", 100 * share,
                 100 * share_error(&v->shares, share), s->points);
    pane_text_cut(p, row, MARK, p->cols - MARK, s->valid > 0 ? STYLE_STRONG : STYLE_BAD, text);
}

// --- the pane ---

static void draw_row(struct app *app, const struct space_view *v, const struct columns *c,
                     const struct pane *p, int row, int at)
{
    enum space_section section;
    int item;
    if (!space_list_at(app, at, &section, &item)) {
        if (at == 0) {
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
        } else if (at == rules_head(app)) {
            pane_text_cut(p, row, MARK, p->cols - MARK, STYLE_HEAD, "constraints and limits");
            const char *head = p->cols >= 44 ? "removes alone" : "alone";
            if (p->cols >= 34)
                pane_text_right(p, row, p->cols, STYLE_HEAD,
                                v->shares.sum.points > 0 ? head : "counting");
        } else if (at >= limits_row(app) && at < sum_row(app, v))
            draw_limit(app, v, p, row, at - limits_row(app));
        else if (at == sum_row(app, v))
            draw_sum(v, p, row);
        return;
    }
    if (section == SECTION_PARAMS)
        draw_param(app, v, c, p, row, item);
    else
        draw_constraint(app, v, p, row, item);
    bool focused = section == v->section && !v->on_moves;
    if (item != v->cursor[section] || (section != v->section && section == SECTION_RULES))
        return;
    pane_select(p, row, focused);
}

void space_list_draw(struct app *app, struct space_view *v, const struct pane *p)
{
    if (!space_of(app)) {
        pane_text_cut(p, 0, 0, p->cols, STYLE_WARN, "The space of this session does not load:");
        pane_text_cut(p, 1, 0, p->cols, STYLE_WARN, app->model.open.trouble.text);
        return;
    }
    // What is left out first when there is no room: values, kind, used, neighbours.
    const struct space *s = space_of(app);
    int cols = p->cols;
    struct columns c = {.name = MARK, .end = cols};
    int names = longest_name(s), room = cols - MARK - names - 1 - LEAST_NOW;
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
    // The row of the cursor is shown, the head above the first ones, and what is below the last
    // ones.
    int rows = p->rows;
    int item = v->cursor[v->section], count = space_list_rows(app, v);
    bool rule = v->section == SECTION_RULES;
    list_point(&v->list, 0, item + (rule ? rules_head(app) + 1 : 1));
    if (rule && item == space_rule_count(app) - 1)
        v->list.top = count - rows;
    list_fit(&v->list, count, rows);
    if (rows > 2 && item == 0 && v->list.top == v->list.cursor)
        v->list.top--;
    for (int row = 0; row < p->rows; row++)
        draw_row(app, v, &c, p, row, (int)v->list.top + row);
}
