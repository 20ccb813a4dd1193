// The kernel of the selected trial: GLSL or SPIR-V, for any outcome of the trial, alone or compared
// with the best one. A child (`tilewalk show`) renders and compiles it, never this process.
#include "app.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/str.h"
#include "engine/stored.h"
#include "report/diff.h"
#include "screen.h"
#include "syntax.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAB_STOP = 4, NUMBER_COLS = 6, SKIP_COLS = 8, CONTEXT = 3 };

// --- the kernel of a trial, as `tilewalk show ID --trial ask:N --glsl --lined` prints it ---
//
// The printed lines: "fact US text" (about the trial), "file US path" (the template from here on),
// "12 US text" (a line of the kernel; the number of its template's line, 0: it has none), where US
// is the unit separator of ASCII. All else is the output of a program that failed.

struct kernel_line {
    const char *text, *file; // in `output`
    const uint8_t *style;    // of the bytes of `text`, in `styles`
    int at;                  // line of the file; 0: none
};

struct listing {
    int64_t session, ask; // whose it is; 0: nothing was asked for
    bool spirv;
    bool arrived;
    char *output;
    uint8_t *styles; // of the bytes of `output`
    struct kernel_line *line;
    int count, capacity;
    const char *fact[8];
    int facts;
    char trouble[1024]; // why there is none; "": there is
};

struct kernel_row {
    const struct kernel_line *line; // NULL: the header of a hunk
    enum diff_side side;
    struct diff_hunk hunk;
};

struct kernel_rows {
    struct kernel_row *row;
    int count, capacity;
};

struct kernel_view {
    struct listing shown, best;
    struct listing *asked; // of the two, the one that a child is asked for; NULL: none is
    bool spirv, against_best;
    struct kernel_rows rows;
    struct list list;
    int skip;               // columns
    char search[LINE_SIZE]; // "": nothing is looked for
};

static void listing_finish(struct listing *l)
{
    free(l->output);
    free(l->styles);
    free(l->line);
    *l = (struct listing){.session = 0};
}

static void kernel_view_finish(struct app *app, void *state)
{
    struct kernel_view *v = state;
    (void)app;
    listing_finish(&v->shown);
    listing_finish(&v->best);
    free(v->rows.row);
}

// --- what is shown ---

static bool is_against(const struct kernel_view *v)
{
    return v->against_best && v->best.arrived && !v->best.trouble[0] &&
           v->best.ask != v->shown.ask && v->best.spirv == v->shown.spirv &&
           v->best.session == v->shown.session;
}

static void add_row(struct kernel_view *v, struct kernel_row row)
{
    MEM_GROW(v->rows.row, v->rows.count, v->rows.capacity);
    v->rows.row[v->rows.count++] = row;
}

// Adds the hunks in which the shown kernel differs from the best one.
static void add_differences(struct kernel_view *v)
{
    const struct listing *best = &v->best, *l = &v->shown;
    struct str before = {0}, after = {0};
    for (int i = 0; i < best->count; i++)
        str_printf(&before, "%s\n", best->line[i].text);
    for (int i = 0; i < l->count; i++)
        str_printf(&after, "%s\n", l->line[i].text);
    struct diff d = diff_lines(str_text(&before), str_text(&after));
    for (struct diff_hunk h = {0}; diff_next_hunk(&d, CONTEXT, &h);) {
        add_row(v, (struct kernel_row){.hunk = h});
        for (int i = h.first; i < h.end; i++) {
            const struct diff_line *x = &d.line[i];
            bool is_best = x->side == DIFF_BEFORE;
            add_row(v, (struct kernel_row){.line = is_best ? &best->line[x->before]
                                                           : &l->line[x->after],
                                           .side = x->side});
        }
    }
    diff_finish(&d);
    str_finish(&before);
    str_finish(&after);
}

static void make_rows(struct kernel_view *v)
{
    v->rows.count = 0;
    if (is_against(v))
        add_differences(v);
    else
        for (int i = 0; i < v->shown.count; i++)
            add_row(v, (struct kernel_row){.line = &v->shown.line[i]});
    if (v->list.cursor >= v->rows.count)
        v->list.cursor = v->rows.count ? v->rows.count - 1 : 0;
}

// Lists the lines of a kernel in `l->output`, with their syntax colours.
static void take_lines(struct listing *l)
{
    const char *file = "";
    enum syntax_state state = SYNTAX_CODE;
    l->styles = mem_zero(strlen(l->output) + 1, 1);
    for (char *line = l->output, *rest; line; line = rest) {
        rest = strchr(line, '\n');
        if (rest)
            *rest++ = '\0';
        char *text = strchr(line, '\x1f');
        int64_t at;
        if (!text)
            continue;
        *text++ = '\0';
        if (str_equal(line, "file")) {
            file = text;
        } else if (str_equal(line, "fact")) {
            if (l->facts < (int)(sizeof l->fact / sizeof *l->fact))
                l->fact[l->facts++] = text;
        } else if (str_to_int(line, 0, INT32_MAX, &at)) {
            uint8_t *style = l->styles + (text - l->output);
            if (l->spirv)
                syntax_scan_spirv(text, style);
            else
                state = syntax_scan_glsl(state, text, style);
            MEM_GROW(l->line, l->count, l->capacity);
            l->line[l->count++] = (struct kernel_line){text, file, style, (int)at};
        }
    }
}

void view_kernel_answer(struct app *app, const char *output, int exit_code)
{
    struct kernel_view *v = app->state[VIEW_KERNEL];
    if (!v->asked) // the database is not there any more
        return;
    struct listing *l = v->asked;
    const struct listing empty = {
        .session = l->session, .ask = l->ask, .spirv = l->spirv, .arrived = true};
    listing_finish(l);
    *l = empty;
    // Tabs become blanks, as everywhere in the workbench.
    struct str out = {0};
    int col = 0;
    for (const char *text = output; *text; text++) {
        int blanks = *text == '\t' ? TAB_STOP - col % TAB_STOP : 0;
        for (int i = 0; i < blanks; i++)
            str_add_char(&out, ' ');
        if (!blanks)
            str_add_char(&out, *text);
        col = *text == '\n' || *text == '\x1f' ? 0 : col + (blanks ? blanks : 1);
    }
    l->output = str_take(&out);
    if (exit_code == 0)
        take_lines(l);
    if (exit_code != 0 || l->count == 0) {
        const char *last = output; // a program that fails prints the reason last
        for (const char *c = output; *c; c++)
            if (c[0] == '\n' && c[1])
                last = c + 1;
        if (*last)
            snprintf(l->trouble, sizeof l->trouble, "%.*s", (int)strcspn(last, "\n"), last);
        else
            snprintf(l->trouble, sizeof l->trouble, "tilewalk show ended with %d", exit_code);
    }
    v->asked = NULL;
    make_rows(v);
    app->dirty = true;
}

static void on_listing(void *app, const struct job_record *job)
{
    view_kernel_answer(app, str_text(&job->output), job->exit_code);
}

static void ask_for(struct app *app, struct kernel_view *v, struct listing *l, int64_t ask)
{
    char id[24], number[32];
    struct err e;
    listing_finish(l);
    *l = (struct listing){.session = app->model.open.record.id, .ask = ask, .spirv = v->spirv};
    snprintf(id, sizeof id, "%" PRId64, l->session);
    snprintf(number, sizeof number, "ask:%" PRId64, ask);
    const char *const words[] = {"show",    id,  "--trial", number, v->spirv ? "--spirv" : "--glsl",
                                 "--lined", NULL};
    v->asked = l;
    if (!app_ask(app, words, on_listing, &e))
        view_kernel_answer(app, e.text, 1);
}

static bool is_of(const struct listing *l, const struct app *app, const struct kernel_view *v,
                  int64_t ask)
{
    return l->ask == ask && l->session == app->model.open.record.id && l->spirv == v->spirv;
}

// Asks for the kernel of the shown trial. The trial stays the same while a run continues.
static bool kernel_view_tick(struct app *app, void *state)
{
    struct kernel_view *v = state;
    const struct trial *t = shown_trial(app), *best;
    int64_t ask = t ? t->ask : 0;
    if (!ask || v->asked || recorded_is(app->model.open.record.source))
        return false;
    if (app->follow)
        app_select(app, ask);
    if (!is_of(&v->shown, app, v, ask)) {
        v->list = (struct list){.cursor = 0};
        ask_for(app, v, &v->shown, ask);
        make_rows(v);
    } else if (v->against_best && (best = model_best(&app->model)) && best->ask != ask &&
               !is_of(&v->best, app, v, best->ask)) {
        ask_for(app, v, &v->best, best->ask);
    }
    return false;
}

// --- searching ---

// Returns the column of the searched text in a row; -1: it is not there.
static int find(const struct kernel_view *v, int row)
{
    const struct kernel_line *l = v->rows.row[row].line;
    const char *at = l && v->search[0] ? strstr(l->text, v->search) : NULL;
    return at ? (int)(at - l->text) : -1;
}

// Searches from the row after (or before) the cursor on, round the end.
static void go_to_match(struct app *app, struct kernel_view *v, int step, bool here)
{
    int n = v->rows.count;
    for (int i = here ? 0 : 1; i <= n; i++) {
        int row = (int)(((v->list.cursor + (int64_t)step * i) % n + n) % n);
        if (find(v, row) >= 0) {
            v->list.cursor = row;
            return;
        }
    }
    app_say(app, STYLE_WARN, "'%s' is not found here", v->search);
}

static bool search_typed(struct app *app, void *context, enum prompt_event event, const char *text)
{
    struct kernel_view *v = context;
    if (event != PROMPT_DONE)
        return true;
    snprintf(v->search, sizeof v->search, "%s", text);
    if (*text)
        go_to_match(app, v, 1, true);
    return true;
}

// --- keys ---

static bool kernel_view_act(struct app *app, void *state, enum action a)
{
    struct kernel_view *v = state;
    switch (a) {
    case ACT_LANGUAGE: v->spirv = !v->spirv; return true;
    case ACT_DIFFERENCE:
        v->against_best = !v->against_best;
        make_rows(v);
        return true;
    case ACT_SEARCH:
        app_prompt(app, &(struct prompt){.lead = "/", .context = v, .typed = search_typed}, "");
        return true;
    case ACT_NEXT_MATCH: go_to_match(app, v, 1, false); return true;
    case ACT_PREVIOUS_MATCH: go_to_match(app, v, -1, false); return true;
    case ACT_LEFT: v->skip -= v->skip > 0 ? SKIP_COLS : 0; return true;
    case ACT_RIGHT: v->skip += SKIP_COLS; return true;
    case ACT_EDIT: {
        // The line of the template under the cursor, or the nearest one above that has one.
        for (int64_t i = v->list.cursor; i >= 0 && i < v->rows.count; i--) {
            const struct kernel_line *l = v->rows.row[i].line;
            if (l && l->at > 0) {
                app_edit(app, l->file, l->at);
                return true;
            }
        }
        return false; // the space file then
    }
    default: return list_act(&v->list, a);
    }
}

static const char *kernel_view_disabled(struct app *app, void *state, enum action a)
{
    const struct kernel_view *v = state;
    bool needs_lines = a == ACT_SEARCH || a == ACT_NEXT_MATCH || a == ACT_PREVIOUS_MATCH;
    (void)app;
    if (needs_lines && !v->rows.count)
        return "there is no kernel here";
    if ((a == ACT_NEXT_MATCH || a == ACT_PREVIOUS_MATCH) && !v->search[0])
        return "nothing is searched for";
    return NULL;
}

static void kernel_view_click(struct app *app, void *state, int row, int col)
{
    struct kernel_view *v = state;
    (void)app, (void)col;
    list_click(&v->list, row);
}

// --- drawing ---

// Draws a line from its column `skip` on, each glyph in the style of its first byte; `whole`: in
// that style instead. A line that is cut ends in "…".
static void draw_text(const struct pane *p, int row, int skip, const struct kernel_line *l,
                      const enum style *whole)
{
    const char *text = l->text;
    int col = -skip;
    while (*text && col < p->cols) {
        enum style style = whole ? *whole : (enum style)l->style[text - l->text];
        col += pane_glyph(p, row, col, style, str_next_glyph(&text));
    }
    if (col > p->cols || *text)
        pane_glyph(p, row, p->cols - 1, STYLE_DIM, 0x2026);
}

static void draw_row(const struct kernel_view *v, const struct pane *p, int row, int at)
{
    static const char marks[] = {[DIFF_SAME] = ' ', [DIFF_BEFORE] = '-', [DIFF_AFTER] = '+'};
    static const enum style styles[] = {[DIFF_BEFORE] = STYLE_REMOVED, [DIFF_AFTER] = STYLE_ADDED};
    const struct kernel_row *k = &v->rows.row[at];
    const enum style *style = k->side == DIFF_SAME ? NULL : &styles[k->side];
    if (!k->line) {
        struct str head = {0};
        diff_add_head(&k->hunk, &head);
        pane_line(p, row, NUMBER_COLS, STYLE_HUNK, "%s", str_text(&head));
        str_finish(&head);
        return;
    }
    const struct listing *of = k->side == DIFF_BEFORE ? &v->best : &v->shown;
    pane_printf(p, row, 1, STYLE_DIM, "%*d", NUMBER_COLS - 2, (int)(k->line - of->line) + 1);
    pane_printf(p, row, NUMBER_COLS, style ? *style : STYLE_TEXT, "%c", marks[k->side]);
    struct pane text = pane_part(p, 0, NUMBER_COLS + 2, p->rows, p->cols - NUMBER_COLS - 2);
    draw_text(&text, row, v->skip, k->line, style);
    int found = find(v, at);
    if (found >= v->skip)
        pane_mark(&text, row, found - v->skip, (int)strlen(v->search));
}

static void kernel_view_draw(struct app *app, void *state, const struct pane *body)
{
    struct kernel_view *v = state;
    char title[96], note[64];
    const struct session_record *r = &app->model.open.record;
    const char *nothing = !r->id ? "No session is open."
                          : recorded_is(r->source)
                              ? "This session ran on a recording: there is no kernel."
                          : !shown_trial(app) ? no_trial_text(&app->model)
                          : !v->shown.arrived ? "Rendering..."
                                              : NULL;
    if (nothing) {
        pane_line(body, 0, 1, STYLE_TEXT, "%s", nothing);
        return;
    }
    const struct trial *t = shown_trial(app);
    snprintf(title, 96, "Kernel of %s %" PRId64 "%s%s", t && t->number ? "trial" : "ask",
             t && t->number ? t->number : v->shown.ask, v->spirv ? ", SPIR-V" : ", GLSL",
             !v->against_best     ? ""
             : is_against(v)      ? ", against the best"
             : v->best.trouble[0] ? ": the best has none"
             : v->asked           ? ""
                                  : ": it is the best");
    struct pane inside = pane_box(body, title, NULL, true);
    if (v->shown.trouble[0]) {
        pane_wrapped(&inside, 0, 1, inside.cols - 2, STYLE_BAD, v->shown.trouble);
        return;
    }
    // The facts stand above the text, in at most a third of the rows.
    int rows = 0;
    for (int i = 0; i < v->shown.facts; i++)
        rows += wrap_rows(v->shown.fact[i], inside.cols - 2);
    int above = int_min(rows, inside.rows / 3);
    struct pane facts = pane_part(&inside, 0, 0, above, inside.cols);
    struct pane text = pane_part(&inside, above, 0, inside.rows - above, inside.cols);
    list_fit(&v->list, v->rows.count, text.rows);
    v->list.first_row = text.row - body->row;
    list_note(&v->list, "lines", note);
    pane_box(body, title, note, true);
    int row = 0;
    for (int i = 0; i < v->shown.facts; i++)
        row = pane_wrapped(&facts, row, 1, facts.cols - 2, i ? STYLE_TEXT : STYLE_STRONG,
                           v->shown.fact[i]);
    if (is_against(v) && !v->rows.count)
        pane_line(&text, 0, 1, STYLE_TEXT, "The two kernels do not differ.");
    for (int64_t i = v->list.top; list_shows(&v->list, i); i++) {
        row = (int)(i - v->list.top);
        draw_row(v, &text, row, (int)i);
        if (i == v->list.cursor)
            pane_select(&text, row, true);
    }
}

const struct view view_kernel = {
    .name = "kernel",
    .title = "Kernel",
    .tab = "Ker",
    .size = sizeof(struct kernel_view),
    .finish = kernel_view_finish,
    .draw = kernel_view_draw,
    .act = kernel_view_act,
    .disabled = kernel_view_disabled,
    .tick = kernel_view_tick,
    .click = kernel_view_click,
};
