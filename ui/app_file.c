// The space file of the open session, which is watched on every screen, and the editor on it.
#include "app.h"

#include "base/file.h"
#include "dialog.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct space_file_basis app_file_basis(const struct app *app)
{
    const struct opened *o = &app->model.open;
    return (struct space_file_basis){
        .path = app->file_path ? app->file_path : o->record.path,
        .device_type = o->record.device_type,
        .limits = o->has_limits ? &o->limits : NULL,
        .script = o->script,
    };
}

char *app_file_copy(const struct session_record *r)
{
    char *copy = NULL;
    struct stat st;
    bool shipped = r->id && r->path && script_is_shipped(r->path, &copy);
    if (shipped && copy && stat(copy, &st) == 0 &&
        (double)st.st_mtim.tv_sec + 1e-9 * (double)st.st_mtim.tv_nsec > r->created)
        return copy;
    free(copy);
    return NULL;
}

void app_file_find(struct app *app)
{
    free(app->file_path);
    app->file_path = app_file_copy(&app->model.open.record);
}

void app_file_report(struct app *app)
{
    const struct space_file *f = &app->file;
    struct space_file_basis basis = app_file_basis(app);
    const char *name = path_name(space_file_changed(f, &basis));
    char error[1400], key[16];
    app_forget_error(app, ERROR_OF_FILE);
    switch (f->state) {
    case SPACE_FILE_NEW:
        snprintf(key, sizeof key, "%s", app_key_of(app, ACT_USE_NEW));
        if (str_equal(f->legal, "0")) { // it loads, and is of no use
            app_say(app, STYLE_BAD, "%s: %s; no configuration is legal", name, f->difference);
            app->error_kind = ERROR_OF_FILE;
            break;
        }
        app_say(app, STYLE_GOOD, "%s: %s; %s starts a session with it", name, f->difference, key);
        break;
    case SPACE_FILE_BROKEN:
        app_say(app, STYLE_BAD, "%s", err_format(&f->error, error, sizeof error));
        app->error_kind = ERROR_OF_FILE;
        break;
    case SPACE_FILE_GONE: app_say(app, STYLE_WARN, "%s is gone", name); break;
    case SPACE_FILE_SAME:
    case SPACE_FILE_CLOSED:
    case SPACE_FILE_UNREAD: app_say(app, STYLE_TEXT, "%s: %s", name, space_file_no_new(f)); break;
    }
}

bool app_file_watched(const struct app *app)
{
    const struct opened *o = &app->model.open;
    return o->record.id && !o->recording && !o->record.scheduler && o->record.path &&
           o->record.path[0];
}

void app_file_read(struct app *app)
{
    struct space_file_basis basis = app_file_basis(app);
    space_file_read(&app->file, &basis);
    app_file_report(app);
}

void app_edited(struct app *app, const char *path, uint64_t before)
{
    if (file_stamp(path, 0) == before) {
        app_say(app, STYLE_TEXT, "%s: nothing was changed", path_name(path));
        return;
    }
    app_say(app, STYLE_TEXT, "%s: saved", path_name(path));
    app_file_find(app);
    struct space_file_basis basis = app_file_basis(app);
    bool watched = app_file_watched(app) && str_equal(basis.path, path);
    for (int i = 0; app_file_watched(app) && i < app->file.watched_count; i++)
        watched |= str_equal(app->file.watched[i], path);
    if (watched)
        app_file_read(app);
}

// --- the editor ---

void app_edit(struct app *app, const char *path, int line)
{
    char *copy = NULL;
    bool shipped = script_is_shipped(path, &copy);
    app->notice[0] = '\0';
    app_forget_error(app, ERROR_OF_COMMAND); // an earlier editor may have failed
    app->edit_line = line;
    if (shipped && !copy) {
        app_say(app, STYLE_WARN,
                "%s ships with tilewalk and stays as it is; a copy of it beside your copy of the "
                "preset would be read instead",
                path);
    } else if (shipped && !file_exists(copy)) {
        free(app->copy_path);
        app->copy_path = mem_strdup(copy);
        ask_copy(app, path, copy);
    } else {
        free(app->edit_path);
        app->edit_path = mem_strdup(shipped ? copy : path);
    }
    free(copy);
}

void app_copied(void *context, const struct job_record *job)
{
    struct app *app = context;
    const char *why = str_text(&job->output);
    int length = (int)strcspn(why, "\n");
    if (job->exit_code || !app->copy_path || !file_exists(app->copy_path)) {
        app_say(app, STYLE_BAD, "%.*s", length, length ? why : "the copy was not made");
        return;
    }
    free(app->edit_path);
    app->edit_path = app->copy_path;
    app->copy_path = NULL;
    app_file_find(app);
    space_file_finish(&app->file); // the copy is watched from now on
    app_log(app, "%s: %s", job->words, app->edit_path);
}
