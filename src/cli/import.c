// import: describes recorded spaces, and writes models and logs of other programs as network files.
#include "import/import.h"
#include "base/err.h"
#include "base/file.h"
#include "cli/check.h"
#include "cli/command.h"
#include "cli/common.h"
#include "cli/confine.h"
#include "export/text.h"
#include "record/record.h"
#include "script/script.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// --- models and logs ---

static void model_print_json(const struct import_format *f, const char *path,
                             const struct imported *m, const struct network *n)
{
    struct str out = {0};
    struct json_writer w = json_begin(&out);
    json_add_text(&w, "file", path);
    json_add_text(&w, "format", f->name);
    json_add_text(&w, "about", m->about);
    json_begin_list(&w, "left_out");
    for (int i = 0; i < m->note_count; i++)
        json_add_text(&w, NULL, m->note[i]);
    json_end(&w);
    json_begin_object(&w, "network");
    check_network_add(&w, n);
    json_end(&w);
    json_print(&w);
}

enum { MOST_NOTES = 100 }; // that are printed; --json has all

// Describes the model, and writes it to the file of --out, if any, which check can read.
static bool import_model(const struct arguments *a, const char *path, const struct import_format *f,
                         struct err *e)
{
    struct arena storage;
    struct imported m;
    struct network n = {0};
    const char *out = arguments_text(a, "out");
    struct import_request q = {.path = path,
                               .out = out,
                               .data = arguments_text(a, "data"),
                               .replaces = arguments_flag(a, "force"),
                               .most_bytes = 1e9 * arguments_real(a, "weights-limit", 2)};
    arena_init(&storage);
    q.set = common_settings(a, &storage, &q.set_count);
    const char *file = out ? out : path;
    bool ok = import_run(f, &q, &m, e);
    ok = ok && (imported_read(&m, file, &n, e) || err_prefix(e, "%s", path)) &&
         (!out || file_write(out, str_text(&m.text), m.text.length, e));
    if (!ok)
        imported_undo(&m);
    if (ok && arguments_flag(a, "json"))
        model_print_json(f, path, &m, &n);
    else if (ok) {
        printf("%s (%s): %s\n", path, f->name, m.about);
        if (m.constants_bytes > 0)
            printf("  constants: %.4g MB\n", m.constants_bytes * 1e-6);
        for (int i = 0; i < m.note_count && i < MOST_NOTES; i++)
            printf("  without %s\n", m.note[i]);
        if (m.note_count > MOST_NOTES)
            printf("  and without %d more\n", m.note_count - MOST_NOTES);
        printf("\n");
        check_network_print(&n);
        if (out)
            printf("\nwrote %s: a network file (tilewalk tune %s)\n", out, out);
    }
    network_finish(&n);
    imported_finish(&m);
    arena_finish(&storage);
    return ok;
}

// --- recordings ---

// Findings that are printed beside the recording.
struct findings {
    const struct space *space;    // onto which the recording was put; NULL: its own
    const struct record_fit *fit; // there
};

static void recording_print_json(const struct recording *r, const struct findings *f)
{
    struct str out = {0};
    struct json_writer w = json_begin(&out);
    json_add_text(&w, "file", r->path);
    json_add_text_if_any(&w, "format", r->format);
    json_add_text_if_any(&w, "name", r->name);
    json_add_text_if_any(&w, "kernel", r->kernel);
    json_add_text_if_any(&w, "device", r->device);
    json_add_text_if_any(&w, "unit", r->unit);
    json_add_text(&w, "size", r->space->size_text);
    json_begin_list(&w, "params");
    for (int i = 0; i < r->space->param_count; i++) {
        const struct param *p = &r->space->param[i];
        json_begin_object(&w, NULL);
        json_add_text(&w, "name", p->name);
        json_add_text(&w, "kind", param_kind_name(p->kind));
        json_add_count(&w, "size", p->size);
        if (p->kind == PARAM_FACTORIZATION) {
            json_add_int(&w, "product", p->product);
            json_add_int(&w, "parts", p->width);
        } else {
            json_add_name(&w, "values");
            param_add_listed_json(p, w.out);
        }
        json_end(&w);
    }
    json_end(&w);
    json_add_int(&w, "recorded", r->count);
    json_add_int(&w, "valid", r->outcomes[OUTCOME_OK]);
    json_begin_object(&w, "failed");
    for (int o = OUTCOME_OK + 1; o < OUTCOME_COUNT; o++)
        if (r->outcomes[o])
            json_add_int(&w, outcome_name((enum outcome)o), r->outcomes[o]);
    json_end(&w);
    json_add_real(&w, "median", r->median);
    json_add_real(&w, "best", r->best < 0 ? NAN : r->entry[r->best].seconds);
    json_add_name(&w, "best_config");
    if (r->best < 0) {
        str_add(&out, "null");
    } else {
        struct config best;
        config_set_get(&r->configs, r->best, &best);
        config_add_json(r->space, &best, &out);
    }
    if (f->space) {
        json_begin_object(&w, "space");
        json_add_text(&w, "name", f->space->name);
        json_add_int(&w, "forbidden", f->fit->forbidden);
        json_end(&w);
    }
    json_print(&w);
}

static void print_time(const struct recording *r, const char *what, double value)
{
    char text[32];
    if (str_equal(r->unit, "s"))
        printf("%s %s", what, text_time(value, text));
    else
        printf("%s %.4g %s", what, value, r->unit);
}

static void recording_print_text(const struct recording *r)
{
    printf("%s (%s)", r->name, r->format);
    if (*r->kernel)
        printf(": %s", r->kernel);
    if (*r->device)
        printf(" on %s", r->device);
    printf("\n");
    for (int i = 0; i < r->space->param_count; i++) {
        const struct param *p = &r->space->param[i];
        struct str line = {0};
        int32_t value[PARAM_MAX_WIDTH];
        for (uint64_t k = 0; k < p->size && k < 8; k++) {
            str_add(&line, k ? " " : "");
            param_value(p, k, value);
            param_add_json(p, value, &line);
        }
        printf("  %-20s %-13s %" PRIu64 ": %s%s\n", p->name, param_kind_name(p->kind), p->size,
               str_text(&line), p->size > 8 ? " ..." : "");
        str_finish(&line);
    }
    for (int i = 0; i < r->space->constraint_count && r->count == 0; i++)
        printf("  %s\n", r->space->constraint[i].name);
    if (r->count) {
        struct config best;
        struct str json = {0}, text = {0};
        printf("recorded %d of %s, valid %d", r->count, r->space->size_text,
               r->outcomes[OUTCOME_OK]);
        for (int o = OUTCOME_OK + 1; o < OUTCOME_COUNT; o++)
            if (r->outcomes[o])
                printf(", %s %d", outcome_name((enum outcome)o), r->outcomes[o]);
        print_time(r, "\nbest", r->entry[r->best].seconds);
        print_time(r, ", median", r->median);
        config_set_get(&r->configs, r->best, &best);
        config_add_json(r->space, &best, &json);
        printf("\n  %s\n", text_config(str_text(&json), &text));
        str_finish(&json);
        str_finish(&text);
    } else
        printf("declarations only, %s points\n", r->space->size_text);
}

static bool put_on_space(const struct space *space, struct recording **r, struct record_fit *fit,
                         struct err *e)
{
    struct recording *declared;
    if (!recording_declare(*r, space, &declared, fit, e))
        return false;
    recording_destroy(*r);
    *r = declared;
    if (fit->forbidden)
        log_warning("%s: the constraints of space '%s' forbid %d recorded configurations that are "
                    "valid and stay (the first is entry %d: %s)",
                    declared->path, space->name, fit->forbidden, fit->first + 1, fit->reason);
    return true;
}

static bool import_one(const struct arguments *a, const char *path, struct script *script,
                       struct err *e)
{
    struct recording *r;
    struct record_fit fit;
    struct findings f = {.space = script ? script_space(script) : NULL, .fit = &fit};
    const char *out = arguments_text(a, "out");
    int task = (int)arguments_integer(a, "task", 0);
    if (!recording_read_task(path, task, &r, e))
        return false;
    bool ok = (!f.space || put_on_space(f.space, &r, &fit, e)) &&
              (!out || recording_write(r, "tilewalk", out, e));
    if (ok && arguments_flag(a, "json"))
        recording_print_json(r, &f);
    else if (ok)
        recording_print_text(r);
    recording_destroy(r);
    return ok;
}

// Reads the space of --space; `*out` is NULL without one.
static bool load_space(const struct arguments *a, bool has_model, struct script **out,
                       struct err *e)
{
    const char *space = arguments_text(a, "space");
    if (arguments_flag(a, "set") && !space && !has_model)
        return err_usage(e, "--set is for --space, and for models");
    if (has_model && space)
        return err_usage(e, "--space is for recordings, not for models");
    struct script_options o = {.space_only = true};
    struct arena storage;
    char *path = space ? script_find(space, e) : NULL;
    arena_init(&storage);
    o.set = common_settings(a, &storage, &o.set_count);
    o.path = path;
    *out = path ? script_create(&o, e) : NULL;
    free(path);
    arena_finish(&storage);
    return *out || !space;
}

// --- the command ---

// Returns whether importing one of the first `count` files imports `path`, whose format is
// format[count], too.
static bool is_part_of_former(const struct import_format *const *format, const char *const *former,
                              int count, const char *path)
{
    for (int i = 0; i < count; i++)
        if (format[i] && format[i] == format[count] && format[i]->is_part &&
            format[i]->is_part(former[i], path))
            return true;
    return false;
}

// `format` and `path` have room for all operands.
static bool import_all(const struct arguments *a, const struct import_format **format,
                       const char **path, struct err *e)
{
    struct script *script = NULL;
    bool has_model = false;
    int count = 0; // that are imported: a model in several files is one
    const struct export_text out = {.path = arguments_text(a, "out"),
                                    .replaces = arguments_flag(a, "force")};
    bool ok = !out.path || export_text_may_write(&out, e);
    for (int i = 0; ok && i < a->operand_count; i++) {
        ok = import_detect(a->operand[i], &format[count], e);
        has_model |= format[count] != NULL; // else it is a recording
        if (!is_part_of_former(format, path, count, a->operand[i]))
            path[count++] = a->operand[i];
    }
    if (ok && out.path && count > 1)
        return err_usage(e, "--out takes one recording, or one model");
    ok = ok && load_space(a, has_model, &script, e);
    for (int i = 0; ok && i < count; i++) {
        if (i && !arguments_flag(a, "json"))
            printf("\n");
        ok = format[i] ? import_model(a, path[i], format[i], e) : import_one(a, path[i], script, e);
    }
    script_destroy(script);
    return ok;
}

static int run_import(const struct command *self, const struct arguments *a)
{
    struct err e;
    (void)self;
    struct sandbox s;
    confine_begin(&s);
    confine_read_space(&s, arguments_text(a, "space"));
    confine_read_settings(&s, a);
    for (int i = 0; i < a->operand_count; i++) {
        // A model may name files beside it that hold its constants.
        const char *path = a->operand[i];
        char *folder = path_folder(path);
        sandbox_allow(&s, SANDBOX_READ, folder);
        sandbox_allow(&s, SANDBOX_READ, path);
        free(folder);
    }
    sandbox_allow(&s, SANDBOX_READ, arguments_text(a, "data"));
    confine_write_beside(&s, arguments_text(a, "out"));
    confine_enter(&s);
    const struct import_format **format = mem_zero((size_t)a->operand_count, sizeof *format);
    const char **operand = mem_zero((size_t)a->operand_count, sizeof *operand);
    bool ok = import_all(a, format, operand, &e);
    free(format);
    free(operand);
    return common_exit(ok, &e);
}

static const struct option options[] = {
    {"out", OPTION_TEXT, "FILE",
     "also write the recording in tilewalk's own format, or the model as a network file"},
    {"data", OPTION_TEXT, "FOLDER",
     "recorded inputs and outputs of an ONNX model: the network has to compute these outputs"},
    {"force", OPTION_FLAG, NULL, "replace an existing FILE of --out"},
    {"weights-limit", OPTION_REAL, "GB",
     "refuse a model whose constants would take more where they are written (2); 0: any size", 0,
     1e9},
    {"space", OPTION_TEXT, "FILE",
     "a space file: convert the recording to the parameters declared there"},
    {"task", OPTION_INTEGER, "N", "of a log of AutoTVM or MetaSchedule: the task that is taken", 1,
     INT_MAX},
    {"rules", OPTION_TEXT,
     .help = "--space holds a recording against the constraints of a space file", .hidden = true,
     .now = ""},
    OPTION_SET,
    OPTION_SANDBOX,
    OPTION_JSON,
    OPTION_END,
};

const struct command cmd_import = {
    .name = "import",
    .operands = "FILE...",
    .help = "describe recorded spaces (Kernel Tuner, T4, KTT, CLBlast, AutoTVM, MetaSchedule, T1; "
            "gz, xz); write models (GGUF, ONNX, logs of GGML_VK_PERF_LOGGER) as network files",
    .least = 1,
    .most = INT_MAX,
    .options = options,
    .run = run_import,
};
