// A session as a recording: what each of its trials did, on the topology that it was searched on.
#include "base/file.h"
#include "base/json.h"
#include "engine/speed.h"
#include "engine/stored.h"
#include "export/export.h"
#include "record/record.h"
#include "trial/trial.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct recorder {
    const struct space *space; // the session's
    struct recording *recording;
    double run[TRIAL_MAX_SAMPLES]; // of one trial
    bool failed;
    struct err err;
};

static double known(double seconds)
{
    return seconds > 0 ? seconds : NAN;
}

// What was rejected stays absent: a recording's space has nothing but what it holds.
static bool add_trial(void *context, const struct trial_record *t)
{
    struct recorder *r = context;
    struct config c;
    bool was_new;
    struct record_entry entry = {.outcome = t->outcome,
                                 .compile_s = known(t->compile_s + t->pipeline_s),
                                 .benchmark_s = known(t->device_s)};
    if (t->outcome == OUTCOME_OPEN || t->outcome == OUTCOME_REJECTED)
        return true;
    r->failed = !config_parse_key(r->space, t->key, &c, &r->err);
    if (r->failed)
        return false;
    if (entry.outcome == OUTCOME_OK) {
        entry.seconds = t->seconds;
        entry.runs = r->run;
        entry.run_count = str_to_reals(t->samples, r->run, TRIAL_MAX_SAMPLES);
    }
    recording_add(r->recording, &c, &entry, &was_new);
    return true;
}

static void describe(struct recording *r, const struct session_record *s)
{
    r->kernel = arena_strdup(&r->arena, s->title);
    r->device = arena_strdup(&r->arena, s->device);
    r->unit = "s";
    r->flop = speed_is_relative(s) ? 0 : s->flop;
}

static bool fill(struct recorder *r, struct store *store, const struct session_record *s,
                 struct err *e)
{
    describe(r->recording, s);
    if (!recording_add_params(r->recording, r->space, e) || !recording_seal_space(r->recording, e))
        return false;
    if (!store_each_trial(store, s->id, 1, add_trial, r, e))
        return false;
    if (r->failed && e)
        *e = r->err;
    if (!r->failed && r->recording->count == 0)
        return err_set(e, "session %" PRId64 " has no trial to write down", s->id);
    return !r->failed && recording_finish(r->recording, e);
}

static void tell(const struct export_request *request, const struct recording *r)
{
    struct str out = {0};
    int valid = r->outcomes[OUTCOME_OK];
    if (request->json) {
        struct json_writer w = json_begin(&out);
        json_add_texts(&w, "files", (const char *[]){r->path, NULL});
        json_add_int(&w, "entries", r->count);
        json_add_int(&w, "valid", valid);
        json_end(&w);
    } else {
        str_printf(&out, "wrote %s: %d configuration%s, %d valid (tilewalk replay searches it)",
                   r->path, r->count, r->count == 1 ? "" : "s", valid);
    }
    if (!request->quiet)
        puts(str_text(&out));
    str_finish(&out);
}

static bool write_recording(struct store *store, const struct export_request *request,
                            const struct session_record *s, const struct space *space,
                            const char *path, struct err *e)
{
    struct recorder r = {.space = space, .recording = recording_create(path, "tilewalk")};
    const char *form = request->form ? request->form : "tilewalk";
    bool ok = fill(&r, store, s, e) && recording_write_as(r.recording, form, path, e);
    if (ok)
        tell(request, r.recording);
    recording_destroy(r.recording);
    return ok;
}

static char *choose_path(const struct export_request *request, const struct session_record *s,
                         const char *folder)
{
    char *file = request->name ? mem_printf("%s.json", request->name)
                               : mem_printf("%s-%" PRId64 ".json", s->name, s->id);
    char *path = path_join(folder, file);
    free(file);
    return path;
}

bool export_recording(struct store *store, const struct export_request *request, struct err *e)
{
    const char *folder = request->folder ? request->folder : EXPORT_STANDARD_FOLDER;
    struct session_record s;
    struct script *script = NULL;
    struct recording *from = NULL;
    struct arena a;
    arena_init(&a);
    bool ok = export_check_name(request->name, e) &&
              store_get_session(store, request->session, &a, &s, e);
    const struct space *space = ok ? stored_space(store, &s, &a, &script, &from, e) : NULL;
    ok = space && file_make_folders(folder, e);
    if (ok) {
        char *path = choose_path(request, &s, folder);
        ok = (request->force || !file_exists(path) ||
              err_set(e,
                      "%s is there already (--force replaces it, --out and --name write "
                      "elsewhere)",
                      path)) &&
             write_recording(store, request, &s, space, path, e);
        free(path);
    }
    script_destroy(script);
    recording_destroy(from);
    arena_finish(&a);
    return ok;
}
