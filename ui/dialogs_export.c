// The dialog for exports. What it would write is asked of the program itself, by a dry run.
#include "dialogs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *export_words(struct dialog *d, void *context, const char *words[])
{
    const struct topic *t = context;
    int n = 0;
    words[n++] = "export";
    words[n++] = dialog_number(d, t->id);
    words[n++] = "--out";
    words[n++] = dialog_text(d, "%s", dialog_value(d, "folder"));
    if (!str_equal(dialog_value(d, "best"), "1")) {
        words[n++] = "--best";
        words[n++] = dialog_text(d, "%s", dialog_value(d, "best"));
    }
    if (*dialog_value(d, "name")) {
        words[n++] = "--name";
        words[n++] = dialog_text(d, "%s", dialog_value(d, "name"));
    }
    if (dialog_is_on(d, "verify"))
        words[n++] = "--verify";
    double percent;
    const char *slower = dialog_value(d, "slower");
    if (*slower && dialog_is_on(d, "verify")) {
        words[n++] = "--slower";
        words[n++] = dialog_text(d, "%s", slower);
    }
    if (*slower && (!str_to_real(slower, &percent) || percent < 0))
        return "how much slower is a number of percent, or nothing";
    if (!*dialog_value(d, "folder"))
        return "a folder is needed";
    return dialog_is_count(dialog_value(d, "best")) ? NULL : "how many is a number, at least 1";
}

// What a dry run printed, if the dialog that wanted it is still there.
static void show_preview(void *context, const struct job_record *job)
{
    struct app *app = context;
    if (app->dialog && dialog_has(app->dialog, "verify"))
        dialog_set_preview(app->dialog, str_text(&job->output));
    app->dirty = true;
}

static void preview_export(struct app *app, struct dialog *d, void *context)
{
    struct topic *t = context;
    const char *words[DIALOG_MOST_WORDS] = {0};
    char wanted[sizeof t->previewed];
    struct err e;
    int n = 0;
    snprintf(wanted, sizeof wanted, "%s %s", dialog_value(d, "best"), dialog_value(d, "name"));
    if (export_words(d, context, words) || str_equal(wanted, t->previewed))
        return;
    memcpy(t->previewed, wanted, sizeof wanted);
    const char *all[DIALOG_MOST_WORDS + 4];
    for (; words[n]; n++)
        all[n] = words[n];
    for (int i = 0; i < n; i++) // a preview measures nothing
        if (str_equal(all[i], "--verify"))
            n = i;
    all[n++] = "--dry-run";
    all[n++] = "--db";
    all[n++] = app->options.database;
    all[n] = NULL;
    jobs_start(&app->jobs, app->options.program, all, show_preview, app, &e);
}

void open_export(struct app *app)
{
    const struct session_row *row = app_session(app);
    struct dialog *d = dialog_create("Export", "Export", export_words, dialog_topic(row), free);
    dialog_describe(app, d, row);
    dialog_add_text(d, "best", "How many of the best", "1");
    dialog_add_text(d, "folder", "Folder", "export");
    dialog_add_text(d, "name", "Name of the files", "");
    dialog_add_check(d, "verify", "run, compare and time again before writing",
                     str_equal(row->record.source, "device"));
    dialog_add_text(d, "slower", "Slower by at most, % (5)", "");
    dialog_on_change(d, preview_export);
    dialog_open(app, d);
}
