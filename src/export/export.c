#include "export/export.h"

#include "base/err.h"
#include "base/file.h"
#include "base/json.h"
#include "base/shown.h"
#include "engine/speed.h"
#include "engine/stored.h"
#include "export/network.h"
#include "export/reverify.h"
#include "kernel/kernel.h"
#include "record/record.h"
#include "report/kernel_files.h"
#include "report/text.h"
#include "space/custom_operation.h"
#include "trial/helper_job.h"
#include "trial/operator.h"
#include "trial/trial.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMPILE_SECONDS 60 // a trial had 30, on a machine that may have been faster
#define EXACT_INPUTS    "random numbers of few bits, so that every partial sum is representable"
#define CUSTOM_INPUTS   "random numbers, as the space file has them"

// The state of one export. Strings live in `arena`.
struct exporter {
    struct store *store;
    const struct export_request *request;
    const char *folder;
    struct arena arena;
    struct session_record session;
    bool has_costs; // its results are those of another objective: kernels have their times instead
    struct script *script;
    struct kernel_files files;
    struct reverified *chosen; // the exported kernels, in the order of the files
    int chosen_count;
    struct kernel_there *there; // for each, the export that has its name now; session 0: none
    uint64_t scratch_bytes;     // scratch memory of the kernel that was added last
    struct str *entry;          // not NULL: the entry of a table is wanted instead of files
};

// --- the report on stdout ---

// Returns the lines of a text; -1 for SPIR-V.
static int64_t line_count(const struct kernel_file *f)
{
    const char *suffix = strrchr(f->name, '.');
    int64_t n = 0;
    if (str_equal(suffix, ".spv"))
        return -1;
    for (size_t i = 0; i < f->length; i++)
        n += f->bytes[i] == '\n';
    return n;
}

static void report_add_files(const struct exporter *x, bool in_detail, struct json_writer *w)
{
    json_begin_list(w, in_detail ? "would_write" : "files");
    for (int i = 0; i < x->files.count; i++) {
        char *path = path_join(x->folder, x->files.file[i].name);
        if (in_detail) {
            int64_t lines = line_count(&x->files.file[i]);
            json_begin_object(w, NULL);
            json_add_text(w, "path", path);
            json_add_count(w, "bytes", x->files.file[i].length);
            if (lines >= 0)
                json_add_int(w, "lines", lines);
            else
                json_add_null(w, "lines");
            json_add_flag(w, "exists", file_exists(path));
            json_end(w);
        } else
            json_add_text(w, NULL, path);
        free(path);
    }
    json_end(w);
}

// Adds the report as JSON (docs/reference/json.md).
static void report_add_json(const struct exporter *x, struct str *out)
{
    struct json_writer w = json_begin(out);
    double flop = x->session.flop;
    report_add_files(x, false, &w);
    json_begin_list(&w, "kernels");
    for (int i = 0; i < x->chosen_count; i++) {
        const struct reverified *k = &x->chosen[i];
        json_begin_object(&w, NULL);
        json_add_text(&w, "name", k->name);
        json_add_int(&w, "trial", k->trial);
        json_add_real(&w, "tflops", k->stored_s > 0 ? flop / k->stored_s / 1e12 : NAN);
        json_add_real(&w, "ms", k->stored_s > 0 ? k->stored_s * 1e3 : NAN);
        json_add_flag(&w, "raced", k->raced);
        json_add_real(&w, "verified_tflops", k->again_s > 0 ? flop / k->again_s / 1e12 : NAN);
        json_add_real(&w, "verified_ms", k->again_s > 0 ? k->again_s * 1e3 : NAN);
        json_add_int(&w, "soaked", k->soaked);
        json_end(&w);
    }
    json_end(&w);
    if (x->request->dry_run)
        report_add_files(x, true, &w);
    json_end_all(&w);
    str_add_char(out, '\n');
}

static void report_add_text(const struct exporter *x, struct str *out)
{
    bool dry_run = x->request->dry_run;
    for (int i = 0; i < x->chosen_count && (dry_run || x->request->verify); i++) {
        const struct reverified *k = &x->chosen[i];
        char speed[32];
        if (k->again_s > 0) {
            str_add(out, "verified: ");
            reverify_add_text(&x->session, k, out);
        } else {
            str_add(out, speed_text(&x->session, k->stored_s, speed));
        }
        str_printf(out, "  (%s, trial %" PRId64 ", %s)\n", k->name, k->trial,
                   k->raced ? "raced" : "measured once");
    }
    for (int i = 0; i < x->files.count; i++) {
        const struct kernel_file *file = &x->files.file[i];
        char *path = path_join(x->folder, file->name);
        int64_t lines = line_count(file);
        shown_add(out, path);
        if (dry_run && lines >= 0)
            str_printf(out, "  %" PRId64 " lines", lines);
        else if (dry_run)
            str_printf(out, "  %zu bytes", file->length);
        if (dry_run && file_exists(path))
            str_add(out, ", replaces the one there");
        str_add(out, "\n");
        free(path);
    }
}

// --- a session as a recording: the results of its trials on the space that it searched ---

struct recorder {
    const struct space *space; // the session's
    struct recording *recording;
    double run[TRIAL_MAX_SAMPLES]; // samples of one trial
    bool failed;
    struct err err;
};

static double known(double seconds)
{
    return seconds > 0 ? seconds : NAN;
}

// Rejected configurations are left out: the space of a recording has only what the recording holds.
static bool recording_add_trial(void *context, const struct trial_record *t)
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

static bool recording_fill(struct recorder *r, struct store *store, const struct session_record *s,
                           struct err *e)
{
    r->recording->kernel = arena_strdup(&r->recording->arena, s->title);
    r->recording->device = arena_strdup(&r->recording->arena, s->device);
    bool is_time = speed_objective(s).kind == OBJECTIVE_TIME;
    r->recording->unit = is_time ? "s" : arena_strdup(&r->recording->arena, s->objective);
    r->recording->flop = speed_is_relative(s) || !is_time ? 0 : s->flop;
    if (!recording_add_params(r->recording, r->space, e) || !recording_seal_space(r->recording, e))
        return false;
    if (!store_each_trial(store, s->id, 1, recording_add_trial, r, e))
        return false;
    if (r->failed && e)
        *e = r->err;
    if (!r->failed && r->recording->count == 0)
        return err_set(e, "session %" PRId64 " has no trial to write down", s->id);
    return !r->failed && recording_finish(r->recording, e);
}

static bool write_recording(struct store *store, const struct export_request *request,
                            const struct session_record *s, const struct space *space,
                            const char *path, struct err *e)
{
    struct recorder r = {.space = space, .recording = recording_create(path, "tilewalk")};
    const char *form = request->form ? request->form : "tilewalk";
    bool ok = recording_fill(&r, store, s, e) && recording_write(r.recording, form, path, e);
    if (ok) {
        struct str out = {0};
        int valid = r.recording->outcomes[OUTCOME_OK];
        if (request->json) {
            struct json_writer w = json_begin(&out);
            json_add_texts(&w, "files", (const char *[]){r.recording->path, NULL});
            json_add_int(&w, "entries", r.recording->count);
            json_add_int(&w, "valid", valid);
            json_end(&w);
        } else {
            str_printf(
                &out, "wrote %s: %d configuration%s, %d valid (tilewalk compare searches it)",
                r.recording->path, r.recording->count, r.recording->count == 1 ? "" : "s", valid);
        }
        if (!request->quiet)
            puts(str_text(&out));
        str_finish(&out);
    }
    recording_destroy(r.recording);
    return ok;
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
        char *plain = path_plain_name(s.name);
        char *file = request->name ? mem_printf("%s.json", request->name)
                                   : mem_printf("%s-%" PRId64 ".json", plain, s.id);
        free(plain);
        char *path = path_join(folder, file);
        free(file);
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

// --- kernels ---

// A kernel from its trial to its files.
struct kernel {
    struct job job;
    struct spirv spirv[JOB_MAX_PASSES];
    struct config config;
    struct str configuration, given[JOB_MAX_PASSES];
    struct str addresses[JOB_MAX_PASSES], uniforms[JOB_MAX_PASSES],
        descriptors[JOB_MAX_PASSES]; // JSON
    struct kernel_description about;
};

char *export_standard_name(const struct session_record *r)
{
    const char *title = r->title + strcspn(r->title, " ");
    char *whole = mem_printf("%s%s", r->name, title);
    char *name = path_plain_name(whole);
    free(whole);
    return name;
}

// Describes the timing that a trial of store_best_trials is ranked by.
static bool describe_timing(struct exporter *x, const struct trial_record *t,
                            struct kernel_description *d, struct err *e)
{
    struct retime_record race = {0};
    d->timing = (struct kernel_timing){.seconds = t->seconds,
                                       .samples = t->samples,
                                       .statistics = t->statistics,
                                       .cold = x->session.cold,
                                       .of_roof = speed_of_peak(&x->session, t->seconds),
                                       .roof_by = x->session.roof_by};
    double joules;
    if (x->has_costs) { // what it was searched for is a cost of another kind; its time is known too
        if (!speed_energy(&x->session, t->clocks, t->seconds, &d->timing.seconds, &joules))
            return err_set(e, "the time of trial %" PRId64 " is not known", t->number);
        d->timing.samples = NULL;
    }
    if (t->raced && !store_get_race(x->store, x->session.id, t->ask, &x->arena, &race, e))
        return false;
    if (race.ask) {
        d->timing.samples = x->has_costs ? NULL : race.samples;
        d->timing.retimed = true;
        d->random_checked = race.verified;
    }
    if (t->ask == x->session.soaked_ask)
        d->soaked = x->session.soaked;
    return true;
}

static void describe_session(const struct session_record *r, struct kernel_description *d)
{
    bool measured = str_equal(r->source, "device");
    d->session = r->id;
    d->title = r->title;
    d->declared = r->declared;
    d->source = recorded_without_folder(r->source);
    d->space = r->name;
    d->settings = r->settings;
    d->device = r->device;
    d->device_type = r->device_type;
    d->driver = r->driver;
    d->device_id = r->device_id;
    d->text_hash = r->text_hash;
    d->flop = r->flop;
    d->work = speed_work(r);
    if (measured) {
        d->exact_inputs = custom_of(d->operation) ? CUSTOM_INPUTS : EXACT_INPUTS;
        d->exact_against = operator_reference_name(d->operation);
    }
}

static const char *buffer_name(const struct operator_layout *l, int buffer)
{
    return buffer < l->count ? l->buffer[buffer].name : "scratch";
}

// Describes images, texel buffers, samplers and arrays of a pass: how each element sees its buffer.
static void describe_descriptors(struct kernel *k, int i, const struct operator_layout *l)
{
    const struct pass *p = &k->job.pass[i];
    struct kernel_facts f;
    if (!kernel_inspect(&k->spirv[i], &f, NULL) || !f.descriptor_count)
        return;
    struct json_writer w = {.out = &k->descriptors[i]};
    json_begin_list(&w, NULL);
    for (int d = 0; d < f.descriptor_count; d++) {
        enum descriptor kind = f.descriptor[d].kind;
        json_begin_object(&w, NULL);
        json_add_int(&w, "set", JOB_DESCRIPTOR_SET);
        json_add_count(&w, "binding", f.descriptor[d].at);
        json_add_text(&w, "kind", descriptor_name(kind));
        json_add_count(&w, "count", f.descriptor[d].count);
        json_begin_list(&w, "elements");
        for (uint32_t n = 0; kind != DESCRIPTOR_SAMPLER && n < f.descriptor[d].count; n++) {
            int buffer = pass_buffer_at(p, f.descriptor[d].at, n);
            const struct job_image *image = pass_image_of(p, buffer);
            json_begin_object(&w, NULL);
            json_add_text(&w, "buffer", buffer_name(l, buffer));
            if (image)
                json_add_text(&w, "format", texel_traits[image->form.format].name);
            if (image && image->form.shape != IMAGE_TEXELS) {
                const char *depth = image->form.shape == IMAGE_3D ? "depth" : "layers";
                json_add_count(&w, "width", image->form.width);
                json_add_count(&w, "height", image->form.height);
                if (image->form.shape != IMAGE_2D)
                    json_add_count(&w, depth, image->form.depth);
            }
            json_end(&w);
        }
        json_end(&w);
        json_end(&w);
    }
    json_end(&w);
    k->about.pass[i].descriptors = str_text(&k->descriptors[i]);
}

// Describes what a pass needs beside its buffers and push constants.
static void describe_resources(struct kernel *k, int i, const struct operator_layout *l)
{
    const struct pass *p = &k->job.pass[i];
    struct kernel_pass *to = &k->about.pass[i];
    struct json_writer w = {.out = &k->addresses[i]};
    uint32_t word;
    json_begin_list(&w, NULL);
    for (int a = 0; a < p->address_count; a++)
        json_add_text(&w, NULL, buffer_name(l, p->address[a]));
    json_end(&w);
    w = (struct json_writer){.out = &k->uniforms[i]};
    json_begin_list(&w, NULL);
    for (int u = 0; u < p->uniform_count; u++) {
        const struct job_block *b = &p->uniform[u].block;
        json_begin_object(&w, NULL);
        json_add_int(&w, "set", JOB_UNIFORM_SET);
        json_add_int(&w, "binding", u);
        json_begin_list(&w, "words");
        for (uint32_t at = 0; at < b->bytes; at += sizeof word) {
            memcpy(&word, b->byte + at, sizeof word);
            json_add_count(&w, NULL, word);
        }
        json_end(&w);
        json_end(&w);
    }
    json_end(&w);
    to->addresses = p->address_count ? str_text(&k->addresses[i]) : NULL;
    to->uniforms = p->uniform_count ? str_text(&k->uniforms[i]) : NULL;
    describe_descriptors(k, i, l);
}

static const char *begins_as(const struct job *j, const struct operator_layout *l, int buffer)
{
    switch (j->begin[buffer].how) {
    case BEGIN_COPY: return buffer_name(l, j->begin[buffer].from);
    case BEGIN_ZERO: return "zeros";
    case BEGIN_KEPT: return "kept";
    default: return NULL;
    }
}

static bool describe_pass(struct kernel *k, int i, struct err *e)
{
    struct pass *from = &k->job.pass[i];
    struct kernel_pass *to = &k->about.pass[i];
    struct kernel_facts facts;
    if (!kernel_inspect(&k->spirv[i], &facts, e))
        return err_prefix(e, "pass %d", i + 1);
    *to = (struct kernel_pass){.glsl = from->glsl,
                               .word = k->spirv[i].word,
                               .word_count = k->spirv[i].count,
                               .entry = kernel_entry(&k->spirv[i]),
                               .once = from->once,
                               .subgroup_size = from->subgroup,
                               .shared_bytes = (uint32_t)facts.shared_bytes,
                               .uses_f16 = facts.uses_f16 || facts.uses_f16_storage,
                               .uses_i8 = facts.uses_i8,
                               .uses_dot = facts.uses_dot,
                               .uses_matrix = facts.matrix != MATRIX_NONE,
                               .push = from->push.byte,
                               .push_bytes = from->push.bytes};
    pass_add_given(from, &k->given[i]);
    to->given = k->given[i].length ? str_text(&k->given[i]) : NULL;
    memcpy(to->local_size, facts.local_size, sizeof to->local_size);
    memcpy(to->groups, from->groups, sizeof to->groups);
    k->about.pass_count = i + 1;
    return true;
}

// Renders and compiles a trial again, as it was measured: check_compiler was called before.
static bool make_kernel(struct exporter *x, const struct trial_record *t, struct kernel *k,
                        struct err *e)
{
    const struct space *space = script_space(x->script);
    bool ok = config_parse_key(space, t->key, &k->config, e) &&
              script_render(x->script, &k->config, &k->job, e) &&
              helper_job_compile(&k->job, COMPILE_SECONDS, k->spirv, e);
    for (int i = 0; ok && i < k->job.pass_count; i++)
        ok = describe_pass(k, i, e);
    if (!ok)
        return err_prefix(e, "trial %" PRId64, t->number);
    config_add_json(space, &k->config, &k->configuration);
    return true;
}

static bool add_trial(struct exporter *x, const struct trial_record *t, int rank, struct err *e)
{
    struct kernel k = {0};
    struct kernel_description *d = &k.about;
    bool ok = make_kernel(x, t, &k, e);
    if (ok) {
        // The best kernel always has the name without a number, and a chosen one has that of its
        // trial.
        char *standard = export_standard_name(&x->session);
        const char *given = x->request->name, *name = given ? given : standard;
        char *ranked = x->request->trial && !given
                           ? arena_printf(&x->arena, "%s-trial-%" PRId64, name, t->number)
                       : rank == 0 ? arena_strdup(&x->arena, name)
                                   : arena_printf(&x->arena, "%s-%d", name, rank + 1);
        free(standard);
        d->name = ranked;
        d->trial = t->number;
        d->build = t->build ? t->build : x->session.build;
        d->operation = script_operation(x->script);
        d->configuration = str_text(&k.configuration);
        describe_session(&x->session, d);
        uint64_t scratch_bytes = k.job.scratch_bytes;
        struct operator_layout layout = operator_layout(d->operation);
        for (int i = 0; i < layout.count; i++)
            d->binding[d->binding_count++] = (struct kernel_binding){
                .name = layout.buffer[i].name,
                .access = layout.buffer[i].is_output ? "write" : "read",
                .bytes = layout.buffer[i].bytes,
                .begins = begins_as(&k.job, &layout, i),
            };
        for (int i = 0; i < d->pass_count; i++)
            describe_resources(&k, i, &layout);
        if (scratch_bytes)
            d->binding[d->binding_count++] = (struct kernel_binding){
                "scratch", "read-write", scratch_bytes, begins_as(&k.job, &layout, layout.count)};
        x->scratch_bytes = k.job.scratch_bytes;
        struct baselines baselines;
        struct str text = {0};
        ok = describe_timing(x, t, d, e) &&
             store_get_baselines(x->store, x->session.id, &x->arena, &baselines, e);
        if (ok && baselines.count && !x->has_costs) {
            struct json_writer w = {.out = &text, .is_spaced = true};
            speed_add_baselines(&x->session, &baselines, d->timing.seconds, NULL, &w);
            d->baselines = arena_strdup(&x->arena, str_text(&text));
        }
        str_finish(&text);
    }
    if (ok && x->entry) {
        kernel_add_json(d, true, x->entry);
    } else if (ok) {
        kernel_files_add(&x->files, d);
        x->chosen[x->chosen_count++] = (struct reverified){
            .name = d->name,
            .trial = t->number,
            .config = k.config,
            .stored_s = d->timing.seconds,
            .samples = d->timing.samples,
            .raced = d->timing.retimed,
        };
    }
    for (int i = 0; i < JOB_MAX_PASSES; i++) {
        spirv_finish(&k.spirv[i]);
        str_finish(&k.given[i]);
        str_finish(&k.addresses[i]);
        str_finish(&k.uniforms[i]);
        str_finish(&k.descriptors[i]);
    }
    str_finish(&k.configuration);
    job_finish(&k.job);
    return ok;
}

static bool take_ask(void *context, const struct trial_record *t)
{
    struct trial_record *out = context;
    *out = (struct trial_record){.ask = t->number == out->number ? t->ask : 0};
    return false;
}

// Adds the trial that is asked for, with its final time where it has one.
static bool add_chosen(struct exporter *x, int64_t number, struct err *e)
{
    int64_t id = x->session.id;
    struct trial_record t = {.number = number};
    struct retime_record race = {.ask = 0};
    if (!store_each_numbered(x->store, id, number, take_ask, &t, e))
        return false;
    if (t.number || !t.ask) // it was not met, or another one was
        return err_set(e, "session %" PRId64 " has no trial %" PRId64, id, number);
    int64_t ask = t.ask;
    if (!store_get_trial(x->store, id, ask, &x->arena, &t, e) ||
        !store_get_race(x->store, id, ask, &x->arena, &race, e))
        return false;
    if (t.outcome != OUTCOME_OK || (race.ask && !race.verified))
        return err_set(
            e, "trial %" PRId64 " of session %" PRId64 " is not exported: its outcome is %s",
            number, id, t.outcome != OUTCOME_OK ? outcome_name(t.outcome) : "wrong");
    if (race.ask) {
        t.seconds = race.seconds;
        t.raced = true;
    }
    x->chosen = arena_zero(&x->arena, 1, sizeof *x->chosen);
    return add_trial(x, &t, 0, e);
}

static bool add_best(struct exporter *x, struct err *e)
{
    struct ranked_trials best;
    int64_t id = x->session.id;
    if (x->request->trial)
        return add_chosen(x, x->request->trial, e);
    if (!store_best_trials(x->store, id, x->request->count, &x->arena, &best, e))
        return false;
    if (best.count == 0)
        return err_set(e,
                       "session %" PRId64 " has no valid trial to export (tilewalk show %" PRId64
                       " --trials%s tells what became of them)",
                       id, id, store_option(x->store));
    x->chosen = arena_zero(&x->arena, (size_t)best.count, sizeof *x->chosen);
    for (int i = 0; i < best.count; i++)
        if (!add_trial(x, &best.trial[i], i, e))
            return false;
    return true;
}

// --- files ---

bool export_check_name(const char *name, struct err *e)
{
    if (!name || (name[0] && name[0] != '.' && !strchr(name, '/')))
        return true;
    return err_usage(e, "'%s' cannot be the name of exported files (the folder is another option)",
                     name);
}

// Fails when another compiler would make SPIR-V that does not belong to the stored times.
static bool check_compiler(const struct session_record *r, struct err *e)
{
    return !str_equal(r->source, "device") || kernel_check_compiler(r->driver, e) ||
           err_prefix(e, "session %" PRId64, r->id);
}

static bool make_files(struct exporter *x, struct err *e)
{
    const struct export_request *r = x->request;
    if (!export_check_name(r->name, e) ||
        !store_get_session(x->store, r->session, &x->arena, &x->session, e))
        return false;
    if (recorded_is(x->session.source))
        return err_set(e,
                       "session %" PRId64 " ran on a recording: there is no kernel to export "
                       "(--as recording writes what it measured)",
                       r->session);
    x->script = stored_script(x->store, &x->session, &x->arena, e);
    x->has_costs = speed_objective(&x->session).kind != OBJECTIVE_TIME;
    if (x->has_costs) { // from here on its numbers are times
        x->session.objective = x->session.unit = NULL;
        x->session.best_seconds = 0;
    }
    return x->script && check_compiler(&x->session, e) && add_best(x, e);
}

// Returns the speed of the kernel that is there, relative to the one that would replace it. 0: they
// were not measured on the same device.
static double speed_there(const struct exporter *x, int i)
{
    const struct kernel_there *there = &x->there[i];
    const char *device = x->session.device_id ? x->session.device_id : "";
    return there->session && str_equal(there->device, device)
               ? x->chosen[i].stored_s / there->seconds
               : 0;
}

static bool may_write_kernel(const struct exporter *x, int k, struct err *e)
{
    const char *name = x->chosen[k].name;
    size_t length = strlen(name);
    bool ours =
        x->there[k].session == x->session.id || (x->request->keep_faster && speed_there(x, k) > 0);
    for (int i = 0; i < x->files.count && !ours; i++) {
        const char *file = x->files.file[i].name;
        if (strncmp(file, name, length) != 0 || file[length] != '.')
            continue;
        char *path = path_join(x->folder, file);
        bool exists = file_exists(path);
        if (exists)
            err_set(e,
                    "'%s' is there already, and not from session %" PRId64
                    " (%s--force replaces it, --name or --out writes elsewhere)",
                    path, x->session.id, x->request->keep_faster ? "tilewalk export: " : "");
        free(path);
        if (exists)
            return false;
    }
    return true;
}

// Writes the files, and removes those of further passes that only the replaced export had.
static bool replace_files(const struct exporter *x, struct err *e)
{
    static const char *const suffixes[] = {"comp", "spv"};
    if (!kernel_files_write(&x->files, x->folder, e))
        return false;
    for (int i = 0; i < x->chosen_count; i++)
        for (int j = 0; x->there[i].session && j < 2 * KERNEL_MAX_PASSES; j++) {
            char *file = kernel_pass_name(x->chosen[i].name, j / 2, suffixes[j % 2]);
            char *path = path_join(x->folder, file);
            int k = 0;
            while (k < x->files.count && !str_equal(x->files.file[k].name, file))
                k++;
            if (k == x->files.count)
                unlink(path);
            free(path);
            free(file);
        }
    return true;
}

// Returns true when a faster kernel of another session is kept, with a warning.
static bool keeps_faster(const struct exporter *x)
{
    const struct kernel_there *there = &x->there[0];
    double speed = speed_there(x, 0);
    if (!x->request->keep_faster || there->session == x->session.id || speed <= 1)
        return false;
    log_warning("%s/%s stays, session %" PRId64 " found it and it is %.3g times as fast "
                "(tilewalk export %" PRId64 "%s --out %s --force replaces it)",
                x->folder, x->chosen[0].name, there->session, speed, x->session.id,
                store_option(x->store), x->folder);
    return true;
}

static bool export_kernels(struct exporter *x, struct err *e)
{
    const struct export_request *r = x->request;
    x->folder = r->folder ? r->folder : EXPORT_STANDARD_FOLDER;
    if (!make_files(x, e))
        return false;
    x->there = arena_zero(&x->arena, (size_t)x->chosen_count, sizeof *x->there);
    for (int i = 0; i < x->chosen_count; i++) {
        char *file = mem_printf("%s.json", x->chosen[i].name), *path = path_join(x->folder, file);
        char *text = NULL;
        struct kernel_there there;
        struct err ignored; // an unreadable file counts as one of another program
        if (file_read(path, &text, NULL, &ignored) && kernel_json_read(text, &there))
            x->there[i] = there;
        free(text);
        free(path);
        free(file);
    }
    if (keeps_faster(x))
        return true;
    for (int i = 0; i < x->chosen_count && !r->force; i++)
        if (!may_write_kernel(x, i, e))
            return false;
    struct reverify_options options = r->reverify;
    options.store = x->store;
    if (r->verify && !reverify(&x->session, x->script, &options, x->chosen, x->chosen_count, e))
        return false;
    if (!r->dry_run && !replace_files(x, e))
        return false;
    if (!r->quiet) {
        struct str out = {0};
        (r->json ? report_add_json : report_add_text)(x, &out);
        fputs(str_text(&out), stdout);
        str_finish(&out);
    }
    return true;
}

bool export_run(struct store *store, const struct export_request *r, struct err *e)
{
    struct exporter x = {.store = store, .request = r};
    arena_init(&x.arena);
    bool ok = store_get_session(store, r->session, &x.arena, &x.session, e);
    if (ok && x.session.scheduler && r->trial)
        ok = err_usage(e, "--trial: session %" PRId64 " is a network, whose tasks have trials",
                       r->session);
    else if (ok && x.session.scheduler)
        ok = export_network(store, &x.session, r, e);
    else if (ok)
        ok = export_kernels(&x, e);
    kernel_files_finish(&x.files);
    script_destroy(x.script);
    arena_finish(&x.arena);
    return ok;
}

bool export_add_kernel(struct store *store, const struct export_kernel *k, struct err *e)
{
    const struct export_request r = {.session = k->session, .count = 1, .name = k->name};
    struct exporter x = {.store = store, .request = &r, .files = *k->files};
    struct trial_record t = {.ask = 0};
    arena_init(&x.arena);
    x.chosen = arena_zero(&x.arena, 1, sizeof *x.chosen);
    bool ok = store_get_session(store, k->session, &x.arena, &x.session, e);
    x.script = ok ? stored_script(store, &x.session, &x.arena, e) : NULL;
    ok = x.script && check_compiler(&x.session, e) &&
         store_get_trial(store, k->session, k->ask, &x.arena, &t, e) &&
         (t.ask || err_set(e, "session %" PRId64 " has no ask %" PRId64, k->session, k->ask)) &&
         add_trial(&x, &t, 0, e);
    *k->files = x.files;
    *k->scratch_bytes = x.scratch_bytes;
    script_destroy(x.script);
    arena_finish(&x.arena);
    return ok;
}

bool export_add_entry(struct store *store, int64_t session, struct str *out, struct err *e)
{
    struct export_request r = {.session = session, .count = 1};
    struct exporter x = {.store = store, .request = &r, .entry = out};
    arena_init(&x.arena);
    bool ok = make_files(&x, e);
    if (ok && !str_equal(x.session.source, "device"))
        ok = err_set(e, "session %" PRId64 " was not measured on a device (%s)", session,
                     x.session.source);
    script_destroy(x.script);
    arena_finish(&x.arena);
    return ok;
}
