// Questions, and the small dialogs about one session.
#include "dialogs.h"

#include "engine/speed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct topic *dialog_topic(const struct session_row *row)
{
    struct topic *t = mem_zero(1, sizeof *t);
    *t = (struct topic){.id = row->record.id, .trials = row->record.trials};
    return t;
}

void dialog_open(struct app *app, struct dialog *d)
{
    dialog_destroy(app->dialog);
    app->dialog = d;
    app->dirty = true;
}

const char *dialog_number(struct dialog *d, int64_t n)
{
    return dialog_text(d, "%" PRId64, n);
}

bool dialog_is_count(const char *text)
{
    int64_t n;
    return str_to_int(text, 1, INT64_MAX / 2, &n);
}

void dialog_warn_of_others(struct app *app, struct dialog *d, const char *device, int64_t but)
{
    for (int i = 0; i < app->model.session_count; i++) {
        const struct session_row *row = &app->model.session[i];
        bool shares = row->runner && row->record.id != but && row->state == STATE_RUNNING &&
                      str_equal(row->record.source, "device") &&
                      (!device || str_equal(row->record.device, device));
        if (shares) {
            char line[256];
            snprintf(line, sizeof line,
                     "Session %" PRId64 " runs there: each would disturb the other's times.",
                     row->record.id);
            dialog_add_line(d, line);
            return;
        }
    }
}

void dialog_describe(struct app *app, struct dialog *d, const struct session_row *row)
{
    const struct opened *o = &app->model.open;
    const struct session_record *r = row->record.id == o->record.id ? &o->record : &row->record;
    char line[256], speed[32];
    snprintf(line, sizeof line,
             "Session %" PRId64 ": %" PRId64 " of %" PRId64 " trials%s%s, %s on %s", r->id,
             r->trials, r->budget_trials, r->best_ask ? ", best " : "",
             r->best_ask ? speed_text(r, r->best_seconds, speed) : "", r->title, r->device);
    dialog_add_line(d, line);
}

// --- questions ---

static const char *stop_words(struct dialog *d, void *context, const char *words[])
{
    const struct topic *t = context;
    words[0] = "stop";
    words[1] = dialog_number(d, t->id);
    return NULL;
}

void ask_stop(struct app *app)
{
    const struct session_row *row = app_session(app);
    struct dialog *d =
        dialog_create("Stop the session?", "Stop", stop_words, dialog_topic(row), free);
    dialog_is_question(d);
    dialog_describe(app, d, row);
    dialog_add_line(d, "It ends now and keeps what it found; resuming takes it up again.");
    dialog_open(app, d);
}

static const char *delete_words(struct dialog *d, void *context, const char *words[])
{
    const struct topic *t = context;
    words[0] = "rm";
    words[1] = dialog_number(d, t->id);
    return NULL;
}

void ask_delete(struct app *app)
{
    const struct session_row *row = app_session(app);
    struct dialog *d =
        dialog_create("Delete for good?", "Delete", delete_words, dialog_topic(row), free);
    dialog_is_question(d);
    dialog_describe(app, d, row);
    dialog_add_line(d, "All its trials, samples and messages go. Exported files stay.");
    dialog_open(app, d);
}

// Words as they were typed, kept until they are answered.
struct typed {
    struct arena arena;
    const char *words[DIALOG_MOST_WORDS];
};

static void typed_destroy(void *context)
{
    struct typed *t = context;
    arena_finish(&t->arena);
    free(t);
}

static const char *typed_words(struct dialog *d, void *context, const char *words[])
{
    const struct typed *t = context;
    (void)d;
    memcpy(words, t->words, sizeof t->words);
    return NULL;
}

void ask_command(struct app *app, const char *const *words)
{
    struct typed *t = mem_zero(1, sizeof *t);
    arena_init(&t->arena);
    for (int i = 0; words[i] && i < DIALOG_MOST_WORDS - 1; i++)
        t->words[i] = arena_strdup(&t->arena, words[i]);
    struct dialog *d = dialog_create("Really?", "Do it", typed_words, t, typed_destroy);
    int64_t id;
    const struct session_row *row =
        words[1] && str_to_int(words[1], 1, INT64_MAX, &id) ? model_row(&app->model, id) : NULL;
    if (row)
        dialog_describe(app, d, row);
    dialog_is_question(d);
    dialog_open(app, d);
}

// --- budget, note, resume ---

static const char *budget_words(struct dialog *d, void *context, const char *words[])
{
    const struct topic *t = context;
    words[0] = "budget";
    words[1] = dialog_number(d, t->id);
    words[2] = dialog_text(d, "%s", dialog_value(d, "trials"));
    int64_t trials;
    if (!str_to_int(words[2], 1, INT64_MAX / 2, &trials))
        return "the budget is a number of trials, at least 1";
    return trials > t->trials ? NULL : "so many are spent: that would end it (:stop does)";
}

void open_budget(struct app *app)
{
    char trials[24], spent[80];
    const struct session_row *row = app_session(app);
    struct dialog *d = dialog_create("Budget", "Set", budget_words, dialog_topic(row), free);
    snprintf(trials, sizeof trials, "%" PRId64, row->record.budget_trials);
    snprintf(spent, sizeof spent, "Session %" PRId64 " has spent %" PRId64 " trials.",
             row->record.id, row->record.trials);
    dialog_add_line(d, spent);
    dialog_add_text(d, "trials", "Trials in all", trials);
    dialog_open(app, d);
}

static const char *note_words(struct dialog *d, void *context, const char *words[])
{
    const struct topic *t = context;
    const char *note = dialog_value(d, "note");
    int n = 0;
    words[n++] = "note";
    words[n++] = dialog_number(d, t->id);
    if (note[0] == '-') // it would be an option
        words[n++] = "--";
    words[n++] = dialog_text(d, "%s", note);
    return NULL;
}

void open_note(struct app *app)
{
    const struct session_row *row = app_session(app);
    struct dialog *d = dialog_create("Note", "Write", note_words, dialog_topic(row), free);
    dialog_describe(app, d, row);
    dialog_add_text(d, "note", "Note", row->record.note ? row->record.note : "");
    dialog_open(app, d);
}

static const char *resume_words(struct dialog *d, void *context, const char *words[])
{
    const struct topic *t = context;
    int64_t trials;
    words[0] = "resume";
    words[1] = dialog_number(d, t->id);
    words[2] = "--trials";
    words[3] = dialog_text(d, "%s", dialog_value(d, "trials"));
    if (!str_to_int(words[3], 1, INT64_MAX / 2, &trials))
        return "the budget is a number of trials, at least 1";
    return trials > t->trials ? NULL : "they are spent already: give it more trials";
}

void open_resume(struct app *app)
{
    char trials[24];
    const struct session_row *row = app_session(app);
    const struct session_record *r = &row->record;
    struct dialog *d = dialog_create("Resume", "Resume", resume_words, dialog_topic(row), free);
    int64_t budget = r->budget_trials > r->trials ? r->budget_trials : r->trials + 100;
    snprintf(trials, sizeof trials, "%" PRId64, budget);
    dialog_describe(app, d, row);
    if (str_equal(r->source, "device"))
        dialog_warn_of_others(app, d, r->device, r->id);
    dialog_add_text(d, "trials", "Trials in all", trials);
    dialog_open(app, d);
}
