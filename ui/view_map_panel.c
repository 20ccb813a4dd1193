#include "base/number.h"
#include "screen.h"
#include "text.h"
#include "view_map.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_COLS 14
#define MIN_LABEL 3  // of the bars
#define HIGH_ROWS 24 // panes from here on have blank lines

struct sheet {
    struct app *app;
    const struct map *map;
    struct lines lines;
};

// Adds words on as many rows as they take, at most `most`.
static void add_words(struct sheet *s, enum style style, const char *text, int most)
{
    struct pane part = pane_part(s->lines.p, s->lines.row, 2, most, s->lines.p->cols - 2);
    s->lines.row += int_min(pane_wrapped(&part, 0, 0, part.cols, style, text), most);
}

static void add_cell(struct sheet *s)
{
    const struct map_cell *c = map_here(s->map);
    char text[200] = "";
    size_t length = 0;
    if (!c) {
        lines_add(&s->lines, STYLE_DIM, "no value was visited yet");
        return;
    }
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        if (i == OUTCOME_OK || i == OUTCOME_REJECTED || !c->outcome[i])
            continue;
        int n = snprintf(text + length, sizeof text - length, "%s %s %" PRId64, length ? "" : ":",
                         outcome_name((enum outcome)i), c->outcome[i]);
        length += (size_t)n < sizeof text - length ? (size_t)n : sizeof text - 1 - length;
    }
    bool narrow = s->lines.p->cols < 40; // the head of the screen has the unit
    const char *gap = narrow ? " " : "   ";
    lines_add(&s->lines, STYLE_TEXT, "trials %" PRId64 "%sok %" PRId64 "%sfailed %" PRId64 "%s",
              cell_trials(c), gap, c->outcome[OUTCOME_OK], gap,
              cell_trials(c) - c->outcome[OUTCOME_OK], text);
    if (c->outcome[OUTCOME_REJECTED])
        lines_add(&s->lines, STYLE_DIM, "rejected %" PRId64 " (cost no trial)",
                  c->outcome[OUTCOME_REJECTED]);
    switch (cell_kind(c)) {
    case CELL_MEASURED: {
        struct model *m = &s->app->model;
        const struct trial *t = model_trial(m, c->best_ask);
        struct str config = {0};
        char best[24], mean[24], worst[24], brief[SPACE_MAX_PARAMS][4];
        double per;
        bool low = s->lines.p->rows < HIGH_ROWS;
        speed_number(m, c->best, best);
        speed_number(m, cell_value(c, STATISTIC_MEAN), mean);
        speed_number(m, c->worst, worst);
        lines_add(&s->lines, STYLE_TEXT, "best %s%s%smean %s%sworst %s%s%s", best,
                  c->best_raced ? " raced" : "", gap, mean, gap, worst, narrow ? "" : " ",
                  narrow ? "" : model_unit(m, &per));
        if (t && t->has_config) {
            lines_add(&s->lines, STYLE_HEAD, "best configuration, trial #%" PRId64, t->number);
            short_names(s->map->space, brief);
            config_add_difference(s->map->space, &t->config, NULL, low ? brief : NULL, &config);
            add_words(s, STYLE_TEXT, str_text(&config), low ? 3 : 6);
            str_finish(&config);
        }
    } break;
    case CELL_FAILED: lines_add(&s->lines, STYLE_BAD, "all that were tried here failed"); break;
    case CELL_EXCLUDED: {
        const struct space *space = s->map->space;
        char why[200] = "";
        add_words(s, STYLE_TEXT,
                  c->impossible ? "excluded: no product of the parts has these values"
                  : c->judged >= JUDGED_ENOUGH ? "excluded: none of those drawn here is legal"
                                               : "excluded: all that were asked here were rejected",
                  3);
        for (int i = LIMIT_NONE + 1; c->judged && i < LIMIT_COUNT; i++)
            if (c->limits & 1u << i)
                snprintf(why, sizeof why, "such as by the device's limit of %s",
                         limit_name((enum limit)i));
        if (c->judged && c->constraint >= 0 && c->constraint < space->constraint_count)
            snprintf(why, sizeof why, "such as by constraint '%s'",
                     space->constraint[c->constraint].name);
        add_words(s, STYLE_DIM, why, 3);
    } break;
    case CELL_UNVISITED:
        snprintf(text, sizeof text, "not visited; none of %d drawn here is legal so far",
                 c->judged);
        add_words(s, STYLE_TEXT, c->legal ? "not visited; there are legal configurations" : text,
                  3);
        break;
    }
}

static int compare_bars(const void *a, const void *b)
{
    const struct importance_entry *x = a, *y = b;
    if (x->share != y->share)
        return x->share > y->share ? -1 : 1;
    return x->values - y->values;
}

// True where cutting labels would make two of them one: "gro" of group2 and group4.
static bool begin_alike(const struct axis *a, int cols)
{
    const struct param *p = a->param;
    if (!p || !p->label || p->kind == PARAM_PERMUTATION)
        return false;
    for (int i = 1; i < p->count; i++)
        for (int k = 0; k < i; k++)
            if (!strncmp(p->label[i], p->label[k], (size_t)cols))
                return true;
    return false;
}

// Draws the best speed at each value of another parameter, or the mark of why there is none.
static void add_bar(struct sheet *s, const struct projection *bar)
{
    const struct pane *p = s->lines.p;
    struct str text = {0};
    double most = 0;
    int count = bar->x.count, all = 0, col = NAME_COLS + 2, room = p->cols - col + 1;
    factor_add_name(s->map->space, bar->x.factor, &text);
    pane_text_cut(p, s->lines.row, 1, NAME_COLS, STYLE_TEXT, str_text(&text));
    for (int i = 0; i < count; i++) {
        most = fmax(most, projection_at(bar, 0, i)->best);
        all += map_label(&bar->x, i, &text) + 3;
    }
    // Labels are as wide as they need when all fit, else as wide as fits, from MIN_LABEL on.
    if (all > room)
        room = int_max(count ? room / count - 3 : 0, MIN_LABEL);
    bool alike = begin_alike(&bar->x, room);
    for (int i = 0; i < count; i++) {
        const struct map_cell *c = projection_at(bar, 0, i);
        const struct param *param = bar->x.param;
        int wide = map_label(&bar->x, i, &text);
        if (alike) {
            text.length = 0;
            label_add_brief(param, (int)bar->x.low[i], &text);
            wide = int_min(text_columns(str_text(&text)), room);
        }
        if (wide > room) // "n,m" of an order, not "n,m,"
            wide = room - (param->kind == PARAM_PERMUTATION && text.text[room - 1] == ',');
        if (col + wide + 2 > p->cols) {
            pane_text(p, s->lines.row, p->cols - 1, STYLE_DIM, "…");
            break;
        }
        struct pane cut = pane_part(p, s->lines.row, col, 1, wide);
        pane_text(&cut, 0, 0, STYLE_DIM, str_text(&text));
        col += wide + 1;
        double level = c->best / most;
        if (cell_kind(c) == CELL_MEASURED && most > 0)
            pane_spark(p, s->lines.row, col, level >= 1 ? STYLE_BEST : STYLE_TEXT, &level, 1);
        else if (cell_kind(c) == CELL_FAILED)
            pane_text(p, s->lines.row, col, STYLE_BAD, "x");
        else // in ASCII a dot is a level
            pane_text(p, s->lines.row, col, STYLE_DIM,
                      p->screen->charset == CHARSET_ASCII ? "?" : "·");
        col += 2;
    }
    s->lines.row++;
    str_finish(&text);
}

// The best speeds of all trials along each factor: from the least of them to the most.
struct range {
    double least, most;
};

static struct range range_along(const struct map *m)
{
    struct range r = {HUGE_VAL, 0};
    for (int i = 0; i < m->factors; i++)
        for (int k = 0; k < m->along[i].x.count; k++) {
            const struct map_cell *c = projection_at(&m->along[i], 0, k);
            if (cell_kind(c) == CELL_MEASURED) {
                r.least = fmin(r.least, c->best);
                r.most = fmax(r.most, c->best);
            }
        }
    return r;
}

// Draws the slice plot of a factor: the best speed at each of its values, low to high. Values share
// a column where they are more than columns.
static void draw_slice(const struct pane *p, int row, const struct projection *along,
                       struct range range)
{
    int count = along->x.count, wide = count ? int_clamp(p->cols / count, 1, 3) : 1;
    for (int col = 0; col < p->cols && col < count * wide; col++) {
        int first = count <= p->cols ? col / wide : col * count / p->cols;
        int end = count <= p->cols ? first + 1 : (col + 1) * count / p->cols;
        double best = 0;
        bool failed = false;
        for (int k = first; k < end; k++) {
            best = fmax(best, projection_at(along, 0, k)->best);
            failed |= cell_kind(projection_at(along, 0, k)) == CELL_FAILED;
        }
        double share =
            range.most > range.least ? (best - range.least) / (range.most - range.least) : 1;
        double level = share * 7 / 8; // a gap to the row above
        if (best > 0)
            pane_spark(p, row, col, share >= 1 ? STYLE_BEST : STYLE_TEXT, &level, 1);
        else if (failed)
            pane_text(p, row, col, STYLE_BAD, "x");
        else // in ASCII a dot is a level
            pane_text(p, row, col, STYLE_DIM, p->screen->charset == CHARSET_ASCII ? " " : "·");
    }
}

// Writes the heading. Importances overlap where the parts that parameters explain, each alone, are
// more than all there is: values were chosen together. Then they are marginal ones.
static void importance_head(const struct importance *im, int cols, char out[128])
{
    char sum[40] = "", trials[40];
    double all = 0;
    for (int i = 0; i < im->count; i++)
        all += im->entry[i].factor.slot < 0 ? im->entry[i].share : 0;
    bool overlap = all > 1;
    if (overlap)
        snprintf(sum, sizeof sum, ", overlapping (sum %.0f %%)", 100 * all);
    snprintf(trials, sizeof trials, ", %" PRId64 " ok%s", im->used,
             im->used > IMPORTANCE_SAMPLE ? " (8192 drawn)" : "");
    const char *name = overlap ? "marginal importance" : "parameter importance";
    snprintf(out, 128, "%s%s%s", name, trials, sum);
    if ((int)strlen(out) >= cols)
        snprintf(out, 128, "%s%s%s", name, trials, overlap ? ", overlapping" : "");
    if ((int)strlen(out) >= cols)
        snprintf(out, 128, "%s%s", name, trials);
}

static const struct projection *along_of(const struct map *m, struct factor f)
{
    for (int i = 0; i < m->factors; i++)
        if (m->factor[i].param == f.param && m->factor[i].slot == f.slot)
            return &m->along[i];
    return NULL; // a factorization as a whole has no axis
}

static void add_importance(struct sheet *s, int most)
{
    const struct importance *im = &s->map->importance;
    const struct projection *g = &s->map->grid;
    const struct pane *p = s->lines.p;
    char head[128];
    if (most < 2)
        return;
    if (!im->used) {
        lines_add(&s->lines, STYLE_DIM, "importance: no ok trial yet");
        return;
    }
    importance_head(im, p->cols, head);
    int row = s->lines.row;
    lines_add(&s->lines, STYLE_HEAD, "%s", head);
    // Name, mark, bar, percent, slice.
    int left = NAME_COLS + 4, room = int_max(p->cols - left - 6, 0);
    int slice = room >= 10 ? int_max(room * 3 / 5, 6) : 0, bar = room - slice;
    struct pane plots = pane_part(p, 0, left + bar + 6, p->rows, slice - 1);
    const char *what = "best by value";
    if (plots.cols >= text_columns(what) && (int)strlen(head) + 1 < left + bar + 6)
        pane_text(&plots, row, 0, STYLE_DIM, what);
    struct range range = range_along(s->map);
    for (int i = 0; i < im->count && i < most - 1; i++) {
        const struct factor *f = &im->entry[i].factor;
        const struct projection *along = along_of(s->map, *f);
        struct str text = {0};
        bool is_x = f->param == g->x.factor.param && f->slot == g->x.factor.slot;
        bool is_y = !g->is_flat && f->param == g->y.factor.param && f->slot == g->y.factor.slot;
        factor_add_name(s->map->space, *f, &text);
        pane_text_cut(p, s->lines.row, 1, NAME_COLS, STYLE_TEXT, str_text(&text));
        pane_text(p, s->lines.row, NAME_COLS + 2, STYLE_KEY, is_x ? "X" : is_y ? "Y" : " ");
        pane_bar(p, s->lines.row, left, bar, STYLE_SERIES, im->entry[i].share);
        text.length = 0;
        str_printf(&text, "%.0f %%", 100 * im->entry[i].share);
        pane_text_right(p, s->lines.row, left + bar + 5, STYLE_TEXT, str_text(&text));
        if (along)
            draw_slice(&plots, s->lines.row, along, range);
        s->lines.row++;
        str_finish(&text);
    }
}

void map_draw_panel(struct app *app, struct map *m, const struct pane *box)
{
    static const char *const next[] = {"more", "importance", "cell"};
    struct str title = {0};
    char note[40];
    snprintf(note, sizeof note, "%s: %s", app_key_of(app, ACT_NEXT_PANE), next[m->page]);
    if (m->page == PAGE_IMPORTANCE)
        str_add(&title, "Importance");
    else if (map_here(m))
        map_add_cell_name(m, m->row, m->col, &title);
    struct pane pane = pane_box(box, str_text(&title), note, false);
    struct sheet s = {app, m, {.p = &pane, .col = 1}};
    str_finish(&title);
    if (m->page == PAGE_IMPORTANCE) {
        add_importance(&s, pane.rows);
        static const char words[] =
            "Share of the variance of the ranks of speeds that one parameter explains alone; "
            "shares overlap where values were chosen together. Behind it the best speed at each "
            "value, low to high.";
        int rows = wrap_rows(words, pane.cols - 2);
        if (pane.rows - s.lines.row > rows)
            add_words(&s, STYLE_DIM, words, rows);
        return;
    }
    bool both = m->page != PAGE_BARS, high = pane.rows >= HIGH_ROWS;
    add_cell(&s);
    s.lines.row += high;
    int left = pane.rows - s.lines.row;
    // At most `most` rows are for the other parameters, the most important first.
    int most = left - (both ? left / 2 : 0);
    const struct map_cell_scan *cell = &s.map->cell;
    struct importance_entry order[SPACE_MAX_SLOTS];
    if (cell->count > 0 && most > 1) {
        for (int i = 0; i < cell->count; i++) {
            double share = importance_of(&s.map->importance, cell->bar[i].x.factor);
            order[i] = (struct importance_entry){.share = isnan(share) ? 0 : share, .values = i};
        }
        qsort(order, (size_t)cell->count, sizeof *order, compare_bars);
        lines_add(&s.lines, STYLE_HEAD, "effect of the other parameters%s%s",
                  pane.cols > 44 ? " in this cell" : "", s.map->is_slice ? ", unsliced" : "");
        for (int i = 0; i < cell->count && i < most - 1; i++)
            add_bar(&s, &cell->bar[order[i].values]);
    }
    s.lines.row += high;
    if (both)
        add_importance(&s, pane.rows - s.lines.row);
}
