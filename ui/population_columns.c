#include "population_columns.h"

#include "base/minmax.h"
#include "report/text.h"

#include <inttypes.h>
#include <string.h>

#define WIDEST_SHADE   2
#define MOST_NAME_ROWS 5
#define MOST_VALUE     10 // columns of a value

void heat_columns_init(struct heat_columns *c, const struct space *s)
{
    c->space = s;
    c->count = 0;
    short_names(s, c->brief);
    for (int i = 0; i < s->param_count; i++) {
        int parts = s->param[i].kind == PARAM_FACTORIZATION ? s->param[i].width : 1;
        for (int slot = 0; slot < parts; slot++)
            c->column[c->count++] = (struct heat_column){.param = i, .slot = slot};
    }
}

void heat_value_add(const struct heat_columns *c, int i, const struct config *config,
                    struct str *out)
{
    const struct param *p = &c->space->param[c->column[i].param];
    const int32_t *v = config->slot + p->offset;
    if (!space_is_live(c->space, config, c->column[i].param))
        str_add_char(out, '-'); // the configuration has no such parameter
    else if (p->kind == PARAM_FACTORIZATION)
        str_add_int(out, v[c->column[i].slot]);
    else
        value_add_text(p, v, out);
}

void heat_columns_take(struct heat_columns *c, const struct config *config)
{
    for (int i = 0; i < c->count; i++) {
        struct str text = {0};
        heat_value_add(c, i, config, &text);
        int cols = int_min(text_columns(str_text(&text)), MOST_VALUE);
        c->column[i].value_cols = int_max(c->column[i].value_cols, cols);
        str_finish(&text);
    }
}

static bool begins_group(const struct heat_columns *c, int i)
{
    return c->column[i].slot == 0;
}

static int name_columns(const struct heat_columns *c, int i)
{
    return text_columns(c->space->param[c->column[i].param].name);
}

// The columns that the parts of a factorization (or the one column) take.
static int group_width(const struct heat_columns *c, int i, int gap)
{
    int width = c->column[i].width;
    for (int k = i + 1; k < c->count && !begins_group(c, k); k++)
        width += gap + c->column[k].width;
    return width;
}

// Puts columns side by side from `first` on; returns how many fit. Where values are shown a group
// is as wide as its name.
static int place(struct heat_columns *c, int first, int room)
{
    int at = 0, inside = c->values, next = 0; // `next`: where the name of this group ends
    int i = first;
    for (; i < c->count; i++) {
        struct heat_column *k = &c->column[i];
        bool begins = begins_group(c, i);
        if (begins && i > first)
            at = int_max(at + 1, next);
        else if (i > first)
            at += inside;
        if (begins && c->values)
            next = at + int_max(group_width(c, i, inside), name_columns(c, i)) + 1;
        k->at = at;
        at += k->width;
        if (at > room)
            break;
        c->end = int_min(int_max(at, next - 1), room);
    }
    return i - first;
}

static void set_width(struct heat_columns *c, bool values, int shade)
{
    c->values = values;
    for (int i = 0; i < c->count; i++)
        c->column[i].width = values ? c->column[i].value_cols + 1 : shade;
}

void heat_columns_fit(struct heat_columns *c, struct list *l, int room, bool always)
{
    set_width(c, true, 0);
    bool fits = place(c, 0, room) == c->count;
    for (int shade = WIDEST_SHADE; !fits && !always && shade > 0; shade--) {
        set_width(c, false, shade);
        fits = place(c, 0, room) == c->count;
    }
    l->top = int64_clamp(l->top, 0, l->cursor > 0 ? l->cursor : 0);
    while (l->cursor >= l->top + place(c, (int)l->top, room) && l->top < l->cursor)
        l->top++;
    while (l->top > 0 && l->top - 1 + place(c, (int)l->top - 1, room) >= c->count)
        l->top--; // no room is left empty
    c->shown = place(c, (int)l->top, room);
    list_fit(l, c->count, c->shown);
}

// Names on `rows` rows in turns. False: one has to be cut.
static bool name_turns(struct heat_columns *c, int first, int room, int rows)
{
    int last[MOST_NAME_ROWS], turn = 0; // column that has the last name of a row
    bool whole = true;
    for (int row = 0; row < rows; row++)
        last[row] = -1;
    for (int i = first; i < first + c->shown; i++) {
        struct heat_column *k = &c->column[i];
        k->name_cols = 0;
        if (!begins_group(c, i) && i > first)
            continue;
        k->name_row = turn;
        k->name_cols = name_columns(c, i);
        struct heat_column *before = last[turn] >= 0 ? &c->column[last[turn]] : NULL;
        if (before && before->at + before->name_cols >= k->at) {
            before->name_cols = k->at - before->at - 1;
            whole = false;
        }
        int end = turn == rows - 1 ? c->end : room; // below, the head of the speeds comes next
        if (k->at + k->name_cols > end) {
            k->name_cols = end - k->at;
            whole = false;
        }
        last[turn] = i;
        turn = (turn + 1) % rows;
    }
    c->name_rows = rows;
    return whole;
}

const char *heat_name(const struct heat_columns *c, int i)
{
    int param = c->column[i].param;
    return c->column[i].name_cols < name_columns(c, i) ? c->brief[param]
                                                       : c->space->param[param].name;
}

void heat_names_fit(struct heat_columns *c, int first, int room, int most_rows)
{
    int rows = 1;
    while (!name_turns(c, first, room, rows) && rows < int_min(most_rows, MOST_NAME_ROWS))
        rows++;
}
