#include "trial_text.h"
#include "view_space.h"

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

static void add_path(struct space_lines *l, const struct param *p, const int32_t *value)
{
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
        col = pane_text_cut(l->p, l->row, col, l->p->cols - col, is_now ? STYLE_BEST : STYLE_TEXT,
                            str_text(&text));
    }
    if (path.last < p->count - 1)
        pane_text(l->p, l->row, col, STYLE_DIM, " …");
    l->row += value ? 2 : 1;
    str_finish(&text);
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

static void add_edges_of(struct space_lines *l, const struct param *p, int i, int names,
                         bool is_now)
{
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
    pane_text_cut(l->p, l->row++, 5 + names, l->p->cols - 5 - names, STYLE_TEXT, str_text(&text));
    str_finish(&text);
}

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
    for (int i = first; i < first + count; i++)
        add_edges_of(l, p, i, names, i == now);
    if (count < p->count)
        space_line(l, STYLE_DIM, "and %d values more", p->count - count);
    if (!p->connected)
        space_line(l, STYLE_WARN, "not connected: some values cannot be reached from others");
}

void space_graph_add(struct space_lines *l, const struct param *p, const int32_t *value)
{
    switch (p->kind) {
    case PARAM_DISCRETE: add_path(l, p, value); break;
    case PARAM_CATEGORICAL: add_complete(l, p, value); break;
    case PARAM_CUSTOM: add_edges(l, p, value); break;
    case PARAM_PERMUTATION: add_steps(l, p, value, "any two swap places"); break;
    case PARAM_FACTORIZATION:
        add_steps(l, p, value, "a prime factor moves from one part to another");
        break;
    }
}
