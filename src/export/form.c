#include "export/form.h"

#include "base/file.h"
#include "base/json.h"
#include "base/os.h"
#include "base/program.h"
#include "engine/speed.h"
#include "engine/stored.h"
#include "export/tuned.h"
#include "report/diff.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct former {
    struct store *store;
    struct arena arena;
    struct session_record session;
    struct script *script;
    struct ranked_trials best;
    int made;
    const char *why_not; // why the last trial without this form has none
    struct str out;
    struct json_writer json; // writes to `out`
};

static void form_finish(struct former *f)
{
    str_finish(&f->out);
    script_destroy(f->script);
    arena_finish(&f->arena);
}

// Reads how a trial was measured, and its shapes.
static bool form_find(struct former *f, const struct trial_record *t, struct script_found *out,
                      struct err *e)
{
    struct evidence v;
    struct str text = {0};
    if (!evidence_read(f->store, &f->session, t->ask, &f->arena, &v, e))
        return false;
    struct script_shape *shape = arena_zero(&f->arena, (size_t)v.shapes.count, sizeof *shape);
    for (int i = 0; i < v.shapes.count; i++)
        shape[i].set = stored_shape(&f->session, i, &f->arena, &shape[i].count);
    evidence_add(&v, &f->session, &text);
    *out = (struct script_found){.told = arena_strdup(&f->arena, str_text(&text)),
                                 .device = f->session.device,
                                 .driver = f->session.driver,
                                 .shapes = v.shapes.count,
                                 .shape = shape};
    str_finish(&text);
    return true;
}

static bool form_add(struct former *f, const struct trial_record *t, const char *form, bool json,
                     struct err *e)
{
    struct config c;
    struct script_found known;
    struct str text = {0};
    if (!config_parse_key(script_space(f->script), t->key, &c, e) || !form_find(f, t, &known, e))
        return false;
    enum script_form found =
        script_export(f->script, &(struct form_use){form, &c, &known}, &text, e);
    bool made = found == FORM_MADE;
    f->made += made;
    if (!made)
        f->why_not = arena_strdup(&f->arena, str_text(&text));
    if (json) {
        json_begin_object(&f->json, NULL);
        json_add_int(&f->json, "trial", t->number);
        json_add_real(&f->json, "ms", speed_ms(&f->session, t->seconds));
        json_add_text(&f->json, "text", made ? str_text(&text) : NULL);
        json_add_text(&f->json, "why_not", made ? NULL : str_text(&text));
        json_end(&f->json);
    } else if (made) {
        str_printf(&f->out, "%s\n", str_text(&text));
    } else {
        str_printf(&f->out, "// trial %" PRId64 " has no such form: %s\n", t->number,
                   str_text(&text));
    }
    str_finish(&text);
    return found != FORM_FAILED;
}

// Reads a session, its best trials and its script.
static bool form_open(struct former *f, int64_t id, int most, struct err *e)
{
    if (!store_get_session(f->store, id, &f->arena, &f->session, e))
        return false;
    if (recorded_is(f->session.source))
        return err_set(e, "session %" PRId64 " ran on a recording: there is no kernel to export",
                       id);
    if (!store_best_trials(f->store, id, most, &f->arena, &f->best, e))
        return false;
    if (f->best.count == 0)
        return err_set(e, "session %" PRId64 " has no valid trial to export", id);
    f->script = stored_script(f->store, &f->session, &f->arena, e);
    return f->script != NULL;
}

static bool form_print(struct former *f, int64_t id, const char *form, int most, bool json,
                       struct err *e)
{
    bool ok = form_open(f, id, most, e);
    if (!ok)
        return false;
    f->json.out = &f->out;
    if (json) {
        json_begin_object(&f->json, NULL);
        json_add_text(&f->json, "form", form);
        json_begin_list(&f->json, "kernels");
    }
    for (int i = 0; ok && i < f->best.count; i++)
        ok = form_add(f, &f->best.trial[i], form, json, e);
    if (json) {
        json_end_all(&f->json);
        str_add_char(&f->out, '\n');
    }
    if (ok && f->made == 0)
        ok = err_set(e, "%s form '%s': %s%s",
                     f->best.count == 1 ? "the best trial has no" : "none of these trials has a",
                     form, f->why_not, f->best.count == 1 ? " (--best N looks at more)" : "");
    if (ok)
        fputs(str_text(&f->out), stdout);
    return ok;
}

bool export_form(struct store *store, int64_t session, const char *form, int most, bool json,
                 struct err *e)
{
    struct former f = {.store = store};
    arena_init(&f.arena);
    bool ok = form_print(&f, session, form, most, json, e);
    form_finish(&f);
    return ok;
}

// --- the form in its place in the other program ---

#define CONTEXT     3  // lines of a diff that stay around a change
#define GIT_SECONDS 60 // for git to look at it

struct patch {
    struct store *store;
    const struct patch_request *want;
    char *path;         // of the host's file, below the folder; heap
    char *original;     // its text; heap
    struct str text;    // the text with the edits so far
    struct str told;    // what each session measured
    struct arena arena; // of `test`
    const char *test;
};

// Finds the file of the host in the checkout, and reads it.
static bool read_host(struct patch *p, const struct script_host *host, struct err *e)
{
    if (p->path)
        return true;
    for (int i = 0; host->file[i]; i++) {
        char *path = path_join(p->want->folder, host->file[i]);
        bool found = file_is_regular(path);
        bool ok = !found || file_read(path, &p->original, NULL, e);
        if (found)
            p->path = mem_strdup(host->file[i]);
        free(path);
        if (found) {
            if (ok)
                str_add(&p->text, p->original);
            return ok;
        }
    }
    return err_set(e, "%s: no %s in it (--in names a checkout of that program)", p->want->folder,
                   host->file[0]);
}

// Edits the text by the best trial of the session that has a place there.
static bool edit(struct patch *p, struct former *f, struct err *e)
{
    for (int i = 0; i < f->best.count; i++) {
        struct config c;
        struct script_found known;
        struct str text = {0};
        if (!config_parse_key(script_space(f->script), f->best.trial[i].key, &c, e) ||
            !form_find(f, &f->best.trial[i], &known, e))
            return false;
        struct host_text host = {str_text(&p->text), p->original};
        enum script_form made =
            script_edit(f->script, &(struct form_use){p->want->form, &c, &known}, &host, &text, e);
        if (made == FORM_MADE) {
            str_cut(&p->text, 0);
            str_add(&p->text, str_text(&text));
            str_printf(&p->told, "%s: %s\n\n%s\n", f->session.name, f->session.title, known.told);
        } else
            f->why_not = arena_strdup(&f->arena, str_text(&text));
        str_finish(&text);
        if (made != FORM_NONE)
            return made == FORM_MADE;
    }
    return err_set(e, "session %" PRId64 ": %s%s", f->session.id, f->why_not,
                   f->best.count == 1 ? " (--best N looks at more trials)" : "");
}

static bool add_session(struct patch *p, int64_t id, struct err *e)
{
    struct former f = {.store = p->store};
    arena_init(&f.arena);
    bool ok = form_open(&f, id, p->want->most, e);
    struct script_host host = ok ? script_host(f.script, p->want->form) : (struct script_host){0};
    if (ok && !host.file)
        ok = err_set(e,
                     "session %" PRId64 ": the space knows no file of another program for '%s' "
                     "(without --in the form is printed)",
                     id, p->want->form);
    ok = ok && read_host(p, &host, e) && edit(p, &f, e);
    if (ok && host.test)
        p->test = arena_strdup(&p->arena, host.test);
    form_finish(&f);
    return ok;
}

// Returns the folder above which git looks for no patch's paths: that with .git, or the checkout.
// `path` becomes the file's path below it.
static char *find_top(const struct patch *p, char **path)
{
    char *top = realpath(p->want->folder, NULL);
    *path = mem_strdup(p->path);
    for (char *at = top ? mem_strdup(top) : NULL; at;) {
        char *git = path_join(at, ".git");
        bool found = file_exists(git);
        free(git);
        if (found) {
            if (strlen(top) > strlen(at)) {
                free(*path);
                *path = path_join(top + strlen(at) + (at[1] != '\0'), p->path);
            }
            free(top);
            return at;
        }
        char *above = strcmp(at, "/") == 0 ? NULL : path_folder(at);
        free(at);
        at = above;
    }
    return top;
}

// Asks git whether the diff applies. `e` says why it does not.
static bool check_diff(const char *top, const char *diff, struct err *e)
{
    char path[64];
    struct str said = {0};
    FILE *file = os_unnamed_file();
    int status = 0;
    if (!file || fputs(diff, file) < 0 || fflush(file) != 0) {
        if (file)
            fclose(file);
        return err_set(e, "the diff cannot be written to memory");
    }
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getpid(), fileno(file));
    // Git's settings lie where the sandbox does not let it look.
    setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
    setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
    const char *const argv[] = {EXPORT_GIT, "-c", "safe.directory=*", "-C", top, "apply", "--check",
                                path,       NULL};
    bool ok = program_run(argv, GIT_SECONDS, &said, &status, e);
    const char *first = str_text(&said);
    if (ok && status != 0)
        ok = err_set(e, "git apply --check: %.*s", (int)strcspn(first, "\n"), first);
    str_finish(&said);
    fclose(file);
    return ok;
}

static bool patch_print(struct patch *p, struct err *e)
{
    struct str diff = {0};
    char *path, *top = find_top(p, &path);
    if (!top)
        return err_set(e, "%s: cannot be read", p->want->folder);
    struct diff lines = diff_lines(p->original, str_text(&p->text));
    str_printf(&diff, "--- a/%s\n+++ b/%s\n", path, path);
    diff_add_text(&lines, CONTEXT, &diff);
    diff_finish(&lines);
    bool ok = true, checked = file_exists(EXPORT_GIT);
    ok = !checked || check_diff(top, str_text(&diff), e);
    if (ok) {
        printf("%s", str_text(&p->told));
        if (p->test)
            printf("To test it: %s\n\n", p->test);
        printf("%s", str_text(&diff));
    }
    if (ok && !checked)
        fputs("tilewalk: there is no git here: whether the diff applies was not checked\n", stderr);
    str_finish(&diff);
    free(path);
    free(top);
    return ok;
}

bool export_patch(struct store *store, const struct patch_request *want, struct err *e)
{
    struct patch p = {.store = store, .want = want};
    bool ok = true;
    arena_init(&p.arena);
    for (int i = 0; ok && i < want->count; i++)
        ok = add_session(&p, want->session[i], e);
    ok = ok && patch_print(&p, e);
    str_finish(&p.text);
    str_finish(&p.told);
    free(p.original);
    free(p.path);
    arena_finish(&p.arena);
    return ok;
}
