// The space file of the open session, watched whatever screen is shown: a version that is other
// than the session's is told where one is, and what became of an edit.
#include "app.h"

#include "base/file.h"

#include <stdio.h>

struct space_file_basis app_file_basis(const struct app *app)
{
    const struct opened *o = &app->model.open;
    return (struct space_file_basis){
        .path = o->record.path,
        .device_type = o->record.device_type,
        .limits = o->has_limits ? &o->limits : NULL,
        .script = o->script,
    };
}

static void say_state(struct app *app, const char *name)
{
    const struct space_file *f = &app->file;
    char error[1400], key[16];
    switch (f->state) {
    case SPACE_FILE_NEW:
        snprintf(key, sizeof key, "%s", app_key_of(app, ACT_USE_NEW));
        app_say(app, STYLE_GOOD, "%s: %s; %s begins a session with it", name, f->difference, key);
        break;
    case SPACE_FILE_BROKEN:
        app_say(app, STYLE_BAD, "%s", err_format(&f->error, error, sizeof error));
        break;
    case SPACE_FILE_GONE: app_say(app, STYLE_WARN, "%s is gone", name); break;
    case SPACE_FILE_SAME:
    case SPACE_FILE_CLOSED:
    case SPACE_FILE_UNREAD: app_say(app, STYLE_TEXT, "%s: %s", name, space_file_no_new(f)); break;
    }
}

static bool has_file(const struct app *app)
{
    const struct opened *o = &app->model.open;
    return o->record.id && !o->recording && !o->record.scheduler && o->record.path &&
           o->record.path[0];
}

bool app_file_poll(struct app *app)
{
    int64_t id = app->model.open.record.id;
    if (app->file_session != id)
        space_file_finish(&app->file);
    app->file_session = id;
    if (!has_file(app))
        return false;
    struct space_file_basis basis = app_file_basis(app);
    bool first = app->file.state == SPACE_FILE_UNREAD;
    if (!space_file_poll(&app->file, &basis, app->now))
        return false;
    bool differs = app->file.state == SPACE_FILE_NEW || app->file.state == SPACE_FILE_BROKEN;
    if (!first || differs)
        say_state(app, path_name(basis.path));
    app->dirty = true;
    return true;
}

void app_file_read(struct app *app)
{
    struct space_file_basis basis = app_file_basis(app);
    space_file_read(&app->file, &basis);
    say_state(app, path_name(basis.path));
}

void app_edited(struct app *app, const char *path, uint64_t before)
{
    if (file_stamp(path, 0) == before) {
        app_say(app, STYLE_TEXT, "%s: nothing was changed", path_name(path));
        return;
    }
    app_say(app, STYLE_TEXT, "%s: saved", path_name(path));
    for (int i = 0; has_file(app) && i < app->file.watched_count; i++)
        if (str_equal(app->file.watched[i], path)) {
            app_file_read(app);
            return;
        }
}
