#include "dialog.h"

#include "app.h"
#include "screen.h"

#include "base/mem.h"
#include "base/number.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_FIELDS  16
#define MOST_CHOICES 32

struct field {
    enum { FIELD_TEXT, FIELD_CHOICE, FIELD_CHECK } kind;
    const char *name, *label; // in the arena
    struct line line;
    const char *choice[MOST_CHOICES];
    int choices, chosen;
    bool folded; // hidden while the fold is closed: all of it, or its choices from `seen` on
    int seen;
    bool on;
    bool touched; // a text that was not is replaced by the first key
};

enum button { BUTTON_ACCEPT, BUTTON_COPY, BUTTON_CANCEL, BUTTON_COUNT };

struct dialog {
    const struct dialog_kind *kind;
    void *context;
    struct arena arena;       // of the context, names and labels
    struct arena words_arena; // of dialog_text
    struct field field[MOST_FIELDS];
    int fields;
    struct str lines, preview;
    struct str preview_of; // the command line of the newest dry run
    int preview_rows;      // room for the preview
    int focus;             // a field, or fields + a button
    int focus_row;         // where it was drawn
    const char *words[DIALOG_MOST_WORDS];
    const char *complaint; // NULL: the words make sense
    const char *command;   // the command line, in words_arena
    bool waiting;          // for its run
    struct str failure;    // of that run, until the next edit
};

// --- making one ---

struct dialog *dialog_open(struct app *app, const struct dialog_kind *kind)
{
    struct dialog *d = mem_zero(1, sizeof *d);
    arena_init(&d->arena);
    arena_init(&d->words_arena);
    d->kind = kind;
    d->focus = kind->is_question ? BUTTON_CANCEL : 0;
    dialog_destroy(app->dialog);
    app->dialog = d;
    app->dirty = true;
    return d;
}

void dialog_destroy(struct dialog *d)
{
    if (!d)
        return;
    str_finish(&d->lines);
    str_finish(&d->preview);
    str_finish(&d->preview_of);
    str_finish(&d->failure);
    arena_finish(&d->words_arena);
    arena_finish(&d->arena);
    free(d);
}

void *dialog_context(struct dialog *d, size_t size)
{
    return d->context = arena_zero(&d->arena, 1, size);
}

const char *dialog_keep(struct dialog *d, const char *text)
{
    return arena_strdup(&d->arena, text);
}

static struct field *add_field(struct dialog *d, const char *name, const char *label)
{
    assert(d->fields < MOST_FIELDS);
    struct field *f = &d->field[d->fields++];
    f->name = arena_strdup(&d->arena, name);
    f->label = arena_strdup(&d->arena, label);
    return f;
}

void dialog_add_text(struct dialog *d, const char *name, const char *label, const char *value)
{
    struct field *f = add_field(d, name, label);
    f->kind = FIELD_TEXT;
    line_set(&f->line, value);
}

void dialog_add_choice(struct dialog *d, const char *name, const char *label,
                       const char *const *choices, int chosen)
{
    struct field *f = add_field(d, name, label);
    f->kind = FIELD_CHOICE;
    for (; choices[f->choices] && f->choices < MOST_CHOICES; f->choices++)
        f->choice[f->choices] = arena_strdup(&d->arena, choices[f->choices]);
    f->chosen = chosen;
}

void dialog_add_check(struct dialog *d, const char *name, const char *label, bool on)
{
    struct field *f = add_field(d, name, label);
    f->kind = FIELD_CHECK;
    f->on = on;
}

void dialog_add_line(struct dialog *d, const char *text)
{
    str_add(&d->lines, text);
    str_add(&d->lines, "\n");
}

void dialog_set_preview(struct dialog *d, const char *text)
{
    str_finish(&d->preview);
    str_add(&d->preview, text);
}

bool dialog_asks_preview(struct dialog *d, const char *command)
{
    if (str_equal(str_text(&d->preview_of), command))
        return false;
    str_finish(&d->preview_of);
    str_add(&d->preview_of, command);
    return true;
}

void dialog_end_preview(struct dialog *d, const char *command, const char *text, bool ok)
{
    if (!str_equal(str_text(&d->preview_of), command))
        return;
    dialog_set_preview(d, ok ? text : "");
    dialog_fail(d, ok ? "" : text);
}

// --- values ---

static const struct field *find_field(const struct dialog *d, const char *name)
{
    for (int i = 0; i < d->fields; i++)
        if (str_equal(d->field[i].name, name))
            return &d->field[i];
    return NULL;
}

const char *dialog_value(const struct dialog *d, const char *name)
{
    const struct field *f = find_field(d, name);
    if (!f)
        return "";
    return f->kind == FIELD_CHOICE && f->choices ? f->choice[f->chosen] : f->line.text;
}

bool dialog_is_on(const struct dialog *d, const char *name)
{
    const struct field *f = find_field(d, name);
    return f && f->on;
}

bool dialog_has(const struct dialog *d, const char *name)
{
    return find_field(d, name) != NULL;
}

const char *dialog_text(struct dialog *d, const char *format, ...)
{
    char text[LINE_SIZE + 64];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return arena_strdup(&d->words_arena, text);
}

void dialog_fold_last(struct dialog *d, int seen)
{
    d->field[d->fields - 1].folded = true;
    d->field[d->fields - 1].seen = seen;
}

bool dialog_is_folded(const struct dialog *d)
{
    return dialog_has(d, DIALOG_FOLD) && !dialog_is_on(d, DIALOG_FOLD);
}

void dialog_set_text(struct dialog *d, const char *name, const char *value)
{
    for (int i = 0; i < d->fields; i++)
        if (str_equal(d->field[i].name, name))
            line_set(&d->field[i].line, value);
}

static bool is_seen(const struct dialog *d, const struct field *f)
{
    return !f->folded || f->kind == FIELD_CHOICE || !dialog_is_folded(d);
}

static bool offers(const struct dialog *d, const struct field *f, int choice)
{
    return !f->folded || choice < f->seen || choice == f->chosen || !dialog_is_folded(d);
}

static void make_words(struct app *app, struct dialog *d)
{
    arena_finish(&d->words_arena);
    memset(d->words, 0, sizeof d->words);
    d->complaint = d->kind->words(d, d->context, d->words);
    char *command = app_command_line(app, d->words);
    d->command = arena_strdup(&d->words_arena, command);
    free(command);
}

// Makes the words; also before the first frame or key.
static void edited(struct app *app, struct dialog *d)
{
    if (d->kind->changed)
        d->kind->changed(app, d, d->context);
    make_words(app, d);
}

// --- drawing ---

static int draw_choice(const struct dialog *d, const struct field *f, const struct pane *p, int row,
                       int col)
{
    int start = col;
    for (int i = 0; i < f->choices; i++) {
        if (!offers(d, f, i))
            continue;
        int end = col + text_columns(f->choice[i]) + 4;
        if (end > p->cols && col > start) { // on the next row
            row++;
            col = start;
        }
        enum style style = i == f->chosen ? STYLE_STRONG : STYLE_TEXT;
        col = pane_text(p, row, col, style, i == f->chosen ? "(*) " : "( ) ");
        col = pane_text(p, row, col, style, f->choice[i]) + 2;
    }
    return row;
}

// Takes out what is too long from the first third on: names of files differ at their ends.
static void shorten(char line[256], int cols)
{
    if (text_columns(line) <= cols || cols < 3)
        return;
    const char *rest = line;
    for (int i = 0; i < cols / 3; i++)
        str_next_glyph(&rest);
    size_t kept = (size_t)(rest - line);
    while (text_columns(rest) > cols - cols / 3 - 1)
        str_next_glyph(&rest);
    char end[256];
    snprintf(end, sizeof end, "…%s", rest);
    snprintf(line + kept, 256 - kept, "%s", end);
}

// Draws at most `most` lines of a text; returns the row after the last.
static int draw_lines(const struct pane *p, int row, enum style style, const char *text, int most)
{
    int left = 0;
    for (const char *c = text; *c; c += strcspn(c, "\n"), c += *c == '\n')
        left++;
    bool all = left <= most;
    for (int i = 0; *text && i < most; i++) {
        char line[256];
        int length = (int)strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", length, text);
        if (!all && i == most - 1)
            snprintf(line, sizeof line, "... and %d more", left - i);
        shorten(line, p->cols);
        pane_line(p, row++, 0, style, "%s", line);
        text += length + (text[length] == '\n');
    }
    return row;
}

#define COMMAND_LEAD "same as: "

// Draws from row `row` on, which may be above the pane; returns the row after the last.
static int draw_content(struct dialog *d, const struct pane *p, int row)
{
    int width = 0;
    for (int i = 0; i < d->fields; i++) {
        int columns = text_columns(d->field[i].label);
        width = d->field[i].kind != FIELD_CHECK && columns > width ? columns : width;
    }
    int labels = width + 2;
    row = pane_wrapped(p, row, 0, p->cols, STYLE_TEXT, str_text(&d->lines));
    for (int i = 0; i < d->fields; i++)
        if (is_seen(d, &d->field[i])) {
            const struct field *f = &d->field[i];
            bool focused = d->focus == i;
            int last = row;
            if (focused)
                d->focus_row = row;
            pane_text_cut(p, row, 0, f->kind == FIELD_CHECK ? p->cols : labels,
                          focused ? STYLE_FOCUS : STYLE_TEXT,
                          f->kind == FIELD_CHECK ? "" : f->label);
            if (f->kind == FIELD_TEXT) {
                int room = p->cols - labels - 2;
                pane_text(p, row, labels, STYLE_FRAME, "[");
                pane_text(p, row, labels + 1 + room, STYLE_FRAME, "]");
                const struct pane inside = pane_part(p, row, labels + 1, 1, room);
                line_draw(&f->line, &inside, focused);
            } else if (f->kind == FIELD_CHOICE) {
                last = draw_choice(d, f, p, row, labels);
            } else {
                int col = pane_text(p, row, labels, STYLE_TEXT, f->on ? "[x] " : "[ ] ");
                pane_text(p, row, col, focused ? STYLE_FOCUS : STYLE_TEXT, f->label);
            }
            if (focused && f->kind != FIELD_TEXT)
                pane_cursor(p, row, labels + 1);
            row = last + 1;
        }
    if (d->preview.length && d->preview_rows > 0)
        row = draw_lines(p, row + 1, STYLE_DIM, str_text(&d->preview), d->preview_rows);
    row += d->fields || d->preview.length || d->lines.length;
    if (d->failure.length && !d->waiting)
        row = pane_wrapped(p, row, 0, p->cols, STYLE_BAD, str_text(&d->failure));
    if (d->complaint)
        row = pane_wrapped(p, row, 0, p->cols, STYLE_BAD, d->complaint);
    else
        row = pane_wrapped(p, row, pane_text(p, row, 0, STYLE_DIM, COMMAND_LEAD),
                           p->cols - (int)strlen(COMMAND_LEAD), STYLE_TEXT, d->command);
    if (d->waiting)
        pane_line(p, row, 0, STYLE_DIM, "starting...");
    row++;
    if (d->focus >= d->fields)
        d->focus_row = row;
    const char *label[BUTTON_COUNT] = {d->kind->button, "Copy command line", "Cancel"};
    for (int i = 0, col = 1; i < BUTTON_COUNT; i++, col += 3) {
        bool focused = d->focus == d->fields + i;
        int start = col;
        col = pane_printf(p, row, col, focused ? STYLE_FOCUS : STYLE_TEXT, "< %s >", label[i]);
        if (focused) {
            pane_mark(p, row, start, col - start);
            pane_cursor(p, row, start);
        }
    }
    return row + 1;
}

void dialog_draw(struct app *app, struct dialog *d, const struct pane *whole)
{
    if (!d->words[0])
        edited(app, d);
    int cols = int_min(whole->cols, 84);
    // Measures the content without the preview, then with one that fits; sets focus_row.
    struct screen nowhere = {.charset = CHARSET_ASCII};
    const struct pane measured = {.screen = &nowhere, .rows = 0, .cols = cols - 4};
    d->preview_rows = 0;
    d->preview_rows = whole->rows - 2 - draw_content(d, &measured, 0) - 1;
    int content = draw_content(d, &measured, 0), rows = int_min(content + 2, whole->rows);
    struct pane p =
        pane_part(whole, (whole->rows - rows) / 2, (whole->cols - cols) / 2, rows, cols);
    pane_fill(&p, STYLE_TEXT, ' ');
    struct pane box = pane_box(&p, d->kind->title, "Esc leaves", true);
    struct pane inside = pane_part(&box, 0, 1, box.rows, box.cols - 2);
    int hidden = int_min(content - inside.rows, d->focus_row); // rows above the pane
    draw_content(d, &inside, -int_max(hidden, 0));
}

// --- keys ---

// Runs the command line. Returns true while the dialog stays open.
static bool accept(struct app *app, struct dialog *d)
{
    make_words(app, d);
    if (d->complaint)
        return true;
    if (d->kind->on_end) {
        struct err e;
        if (!app_ask(app, d->words, d->kind->on_end, &e))
            app_say(app, STYLE_BAD, "%s", e.text);
        return false;
    }
    d->waiting = app_command(app, d->words) && d->kind->waits;
    return d->waiting;
}

const char *dialog_focus(const struct dialog *d)
{
    return d->focus < d->fields ? d->field[d->focus].name : "";
}

bool dialog_waits(const struct dialog *d)
{
    return d->waiting;
}

void dialog_fail(struct dialog *d, const char *why)
{
    str_finish(&d->failure);
    str_add(&d->failure, why);
    d->waiting = false;
}

bool dialog_takes_text(const struct dialog *d)
{
    return d->focus < d->fields && d->field[d->focus].kind == FIELD_TEXT;
}

static bool field_key(struct app *app, struct dialog *d, int32_t key)
{
    struct field *f = &d->field[d->focus];
    bool used = true;
    if (f->kind == FIELD_TEXT) {
        if (!f->touched && key >= ' ' && key < KEY_IS_UP && key != KEY_IS_BACKSPACE)
            line_set(&f->line, "");
        used = line_key(&f->line, key);
        f->touched |= used;
    } else if (f->kind == FIELD_CHECK && key == ' ') {
        f->on = !f->on;
    } else {
        bool next = key == ' ' || key == KEY_IS_RIGHT || key == 'l';
        used = f->kind == FIELD_CHOICE && (next || key == KEY_IS_LEFT || key == 'h');
        if (used)
            do {
                f->chosen = (f->chosen + (next ? 1 : f->choices - 1)) % f->choices;
            } while (!offers(d, f, f->chosen));
    }
    if (used) {
        str_finish(&d->failure);
        edited(app, d);
    }
    return used;
}

enum { CTRL_X = 24 };

static bool pass_key(struct app *app, struct dialog *d, int32_t key)
{
    if (key == CTRL_X || key == KEY_IS_F1 + 9)
        return accept(app, d);
    if (d->focus < d->fields && field_key(app, d, key))
        return true;
    bool on_buttons = d->focus >= d->fields;
    bool next = key == KEY_IS_TAB || key == KEY_IS_DOWN || (on_buttons && key == KEY_IS_RIGHT);
    bool back = key == KEY_IS_BACK_TAB || key == KEY_IS_UP || (on_buttons && key == KEY_IS_LEFT);
    int stops = d->fields + BUTTON_COUNT;
    if (key == KEY_IS_ENTER && on_buttons) {
        int button = d->focus - d->fields;
        if (button == BUTTON_COPY && !d->complaint)
            app_copy(app, d->command);
        if (button == BUTTON_COPY)
            return true;
        return button != BUTTON_CANCEL && accept(app, d);
    }
    if (key == 'y' && on_buttons && !d->complaint)
        app_copy(app, d->command);
    else if (key == KEY_IS_ENTER && d->fields == 1)
        return accept(app, d);
    else if (key == KEY_IS_ENTER)
        d->focus = d->fields; // to the button
    else if (next || back)
        do {
            d->focus = (d->focus + (next ? 1 : stops - 1)) % stops;
        } while (d->focus < d->fields && !is_seen(d, &d->field[d->focus]));
    return true;
}

bool dialog_key(struct app *app, struct dialog *d, int32_t key)
{
    if (key == KEY_IS_ESC)
        return false;
    if (d->waiting)
        return true;
    if (!d->words[0])
        edited(app, d);
    int before = d->focus;
    bool stays = pass_key(app, d, key);
    if (stays && d->focus != before)
        edited(app, d);
    return stays;
}
