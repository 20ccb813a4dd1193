#include "view_space.h"

#include "report/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int error_lines(const struct space_file *f)
{
    return f->error.line > 0 ? 5 : 2; // the error, three lines around it, what stays in use
}

int space_below_rows(const struct app *app, int most)
{
    const struct space_file *f = &app->file;
    int wanted = 2 + (f->state == SPACE_FILE_BROKEN ? error_lines(f)
                      : f->state == SPACE_FILE_NEW  ? 2
                                                    : 1);
    return wanted < most ? wanted : most;
}

// The words of the title's end.
static void note_of(const struct space_file *f, char note[96])
{
    char at[16];
    text_clock(f->changed, at);
    switch (f->state) {
    case SPACE_FILE_SAME: snprintf(note, 96, "unchanged"); break;
    case SPACE_FILE_NEW: snprintf(note, 96, "changed %s, loads", at); break;
    case SPACE_FILE_BROKEN: snprintf(note, 96, "changed %s, does NOT load", at); break;
    case SPACE_FILE_GONE: snprintf(note, 96, "gone"); break;
    case SPACE_FILE_CLOSED: snprintf(note, 96, "cannot be read"); break;
    case SPACE_FILE_UNREAD: snprintf(note, 96, "not read yet"); break;
    }
}

static void add_stays(struct app *app, struct space_lines *l)
{
    const struct opened *o = &app->model.open;
    space_line(l, STYLE_TEXT, "The last good version stays in use; session %" PRId64 " %s it.",
               o->record.id, o->state == STATE_RUNNING ? "keeps running on" : "stays with");
}

static void add_error(struct app *app, const struct space_file *f, struct space_lines *l)
{
    char text[1400];
    space_line(l, STYLE_BAD, "%s", err_format(&f->error, text, sizeof text));
    int room = l->p->rows - l->row - 1;
    for (int i = -1; f->error.line > 0 && i <= 1 && room >= 3; i++) {
        const char *source = f->around[SPACE_FILE_AROUND + i];
        if (f->error.line + i < 1)
            continue;
        space_line(l, i == 0 ? STYLE_STRONG : STYLE_DIM, " %s%5d | %s", i == 0 ? ">" : " ",
                   f->error.line + i, source);
    }
    if (l->row < l->p->rows)
        add_stays(app, l);
}

static void add_new(struct app *app, const struct space_file *f, struct space_lines *l)
{
    const struct space *space = app->model.open.space;
    char size[32], in_use[32];
    space_line(l, STYLE_GOOD, "%s", f->difference);
    space_line(
        l, STYLE_TEXT,
        "%s points, in use %s; %s starts a new session with it, session %" PRId64 " keeps its own.",
        space_grouped(f->size, size), space ? space_grouped(space->size_text, in_use) : "none",
        app_key_of(app, ACT_USE_NEW), app->model.open.record.id);
}

static void add_state(struct app *app, const struct space_file *f, struct space_lines *l)
{
    switch (f->state) {
    case SPACE_FILE_BROKEN: add_error(app, f, l); break;
    case SPACE_FILE_NEW: add_new(app, f, l); break;
    case SPACE_FILE_GONE:
        space_line(l, STYLE_WARN, "The file is gone; session %" PRId64 " has its own copy of it.",
                   app->model.open.record.id);
        break;
    case SPACE_FILE_CLOSED:
        space_line(l, STYLE_WARN,
                   "Its folder was not known when this workbench was started: start "
                   "it again to compare.");
        break;
    case SPACE_FILE_SAME:
        space_line(l, STYLE_DIM, "On disk as the session has it. %s edits it.",
                   app_key_of(app, ACT_EDIT));
        break;
    case SPACE_FILE_UNREAD: break;
    }
}

void space_below_draw(struct app *app, const struct pane *p)
{
    char title[200], note[96];
    note_of(&app->file, note);
    snprintf(title, sizeof title, "%s", app->model.open.record.path);
    if (p->rows >= 3) {
        struct pane box = pane_box(p, title, note, false);
        struct pane inside = pane_part(&box, 0, 1, box.rows, box.cols - 2);
        struct space_lines l = {.p = &inside};
        add_state(app, &app->file, &l);
        return;
    }
    struct space_lines l = {.p = p};
    if (app->file.state == SPACE_FILE_BROKEN) {
        char text[1400];
        space_line(&l, STYLE_BAD, "%s", err_format(&app->file.error, text, sizeof text));
    } else {
        space_line(&l, app->file.state == SPACE_FILE_SAME ? STYLE_DIM : STYLE_WARN, "%s: %s", title,
                   note);
    }
}
