// A view: one of the screens on keys 1 to 9. One file each, `static` inside, its record last.
//
// A view draws the body of the frame (the rows between head and footer) from the model, whole and
// every time, at any size down to 1 x 1; it never waits, never writes anywhere but into its pane,
// and reads no clock but app->now and app->unix_now. Work that takes more than a millisecond is
// done in slices by `tick`. What changes a session is a command line: app_command.
#ifndef TILEWALK_UI_VIEW_H
#define TILEWALK_UI_VIEW_H

#include "keys.h"
#include "screen.h"

#include <stddef.h>

struct app;

struct view {
    const char *name;            // "main": of the `:` prompt and --view
    const char *title;           // "Main": of the footer
    const char *tab;             // shorter, for narrow footers: "Ses"
    size_t size;                 // of its state, which begins as zero
    void (*init)(void *state);   // what is not zero; may be NULL
    void (*finish)(void *state); // frees what the state holds; may be NULL
    void (*draw)(struct app *app, void *state, const struct pane *body);
    // True: the action was the view's.
    bool (*act)(struct app *app, void *state, enum action a);
    // Why an action of the view can do nothing now, a short clause for the message row ("no trial
    // is selected"); NULL: it can. May be NULL.
    const char *(*disabled)(struct app *app, void *state, enum action a);
    // A slice of at most about 5 ms of work; true while there is more. Called for the view that is
    // shown, when the model changed and as long as it says true. May be NULL.
    bool (*tick)(struct app *app, void *state);
    void (*opened)(struct app *app, void *state); // another session is open now; may be NULL
    // A click on the body, relative to it; may be NULL.
    void (*click)(struct app *app, void *state, int row, int col);
};

#define AS_VIEW(id, name, keys, help) extern const struct view view_##name;
VIEWS(AS_VIEW)
extern const struct view *const views[VIEW_COUNT]; // indexed by enum view_id

// The session under the cursor of the sessions screen; 0: none.
int64_t view_sessions_at_cursor(struct app *app);
// Takes the answer of the child that renders and compiles a kernel; for jobs, and for tests.
void view_kernel_answer(struct app *app, const char *output, int exit_code);

#endif
