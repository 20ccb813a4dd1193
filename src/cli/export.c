// export: writes sessions as kernels, recordings, tables and other files.
#include "export/export.h"
#include "base/file.h"
#include "cli/common.h"
#include "cli/confine.h"
#include "engine/speed.h"
#include "engine/transfer.h"
#include "export/form.h"
#include "export/text.h"
#include "export/tuned.h"
#include "report/kernel_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// A form of a session beside kernels, as --as names it.
struct form {
    const char *name;
    bool chooses;         // trials, by --best
    bool many;            // takes several sessions
    bool adds;            // to an existing file
    const char *recorded; // a recording of this format: a file in the folder of --out
    bool (*make)(struct store *store, const struct arguments *a, struct export_text *out,
                 struct err *e); // the text of the file of --out
};

static bool make_warm_start(struct store *store, const struct arguments *a, struct export_text *out,
                            struct err *e)
{
    int most = (int)arguments_integer(a, "best", WARM_STANDARD);
    int64_t id = strtoll(a->operand[0], NULL, 10);
    out->what = "configuration";
    str_add(&out->detail, "for tune --warm-start");
    return warm_add_record(store, id, most, &out->text, &out->entries, e);
}

static bool make_table(struct store *store, const struct arguments *a, struct export_text *out,
                       struct err *e)
{
    static const char *const changes[] = {"added", "replaced", "kept, being faster"};
    struct kernel_table table;
    int count[3] = {0};
    kernel_table_init(&table);
    bool ok = !file_exists(out->path) || kernel_table_read(&table, out->path, e);
    for (int i = 0; ok && i < a->operand_count; i++) {
        struct str entry = {0};
        enum kernel_change change;
        ok = export_add_entry(store, strtoll(a->operand[i], NULL, 10), &entry, e) &&
             kernel_table_add(&table, str_text(&entry), &change, e);
        str_finish(&entry);
        if (ok)
            count[change]++;
    }
    if (ok)
        kernel_table_add_text(&table, &out->text);
    out->entries = table.count;
    out->what = "kernel";
    for (int i = 0; i < 3; i++)
        if (count[i])
            str_printf(&out->detail, "%s%d %s", out->detail.length ? ", " : "", count[i],
                       changes[i]);
    kernel_table_finish(&table);
    return ok;
}

static int64_t *session_ids(const struct arguments *a) // heap
{
    int64_t *id = mem_zero((size_t)a->operand_count, sizeof *id);
    for (int i = 0; i < a->operand_count; i++)
        id[i] = strtoll(a->operand[i], NULL, 10);
    return id;
}

static bool make_tuned(struct store *store, const struct arguments *a, struct export_text *out,
                       struct err *e)
{
    int64_t *id = session_ids(a);
    bool ok = export_tuned(store, id, a->operand_count, &out->text, e);
    free(id);
    out->entries = a->operand_count;
    out->what = "session";
    return ok;
}

// The last one is any other form: the space file declares it, and it is printed.
static const struct form forms[] = {
    {"warm-start", .chooses = true, .make = make_warm_start},
    {"table", .many = true, .adds = true, .make = make_table},
    {"tuned", .many = true, .make = make_tuned},
    {"recording", .recorded = "tilewalk"},
    {"kernel-tuner", .recorded = "kernel-tuner"},
    {"t4", .recorded = "t4"},
    {NULL, .chooses = true},
};

// Finds the form of --as; NULL: kernels.
static bool find_form(const struct arguments *a, const struct form **out, struct err *e)
{
    const char *given[8], *name = NULL;
    int count = arguments_list(a, "as", given, 8);
    for (int i = 0; i < count; i++) {
        // `--recording --format t4` is an old spelling of `--as t4`.
        const char *other = str_equal(given[i], "tilewalk") ? "recording" : given[i];
        if (!name || str_equal(name, "recording"))
            name = other;
        else if (!str_equal(other, name) && !str_equal(other, "recording"))
            return err_usage(e, "--as %s and --as %s are two exports (choose one)", name, other);
    }
    const struct form *form = forms;
    while (form->name && !str_equal(form->name, name))
        form++;
    *out = name ? form : NULL;
    return true;
}

static bool check_words(const struct arguments *a, const struct form *form, struct err *e)
{
    int64_t id;
    for (int i = 0; i < a->operand_count; i++)
        if (!common_session_id(a->operand[i], &id, e))
            return false;
    bool patches = arguments_flag(a, "in");
    if (patches && (!form || form->name || arguments_flag(a, "json")))
        return err_usage(e,
                         "--in is the checkout that --as FORM changes, for a FORM that the space "
                         "file declares, without --json");
    if (a->operand_count > 1 && !(form && form->many) && !patches)
        return err_usage(e,
                         "export: '%s' is one argument too many (only --as table, --as tuned and "
                         "--in take several sessions)",
                         a->operand[1]);
    if (arguments_integer(a, "trial", 0) && arguments_integer(a, "best", 0))
        return err_usage(e, "--trial and --best exclude each other (choose one)");
    if (arguments_real(a, "slower", -1) >= 0 && !arguments_flag(a, "verify"))
        return err_usage(e, "--slower is the tolerance of --verify (give both)");
    if (!form)
        return true;
    const char *name = arguments_text(a, "as");
    const struct {
        const char *option;
        bool applies;
    } of_kernels[] = {{"verify", false},
                      {"trial", false},
                      {"dry-run", false},
                      {"name", form->recorded},
                      {"out", form->recorded || form->make},
                      {"best", form->chooses}};
    for (size_t i = 0; i < sizeof of_kernels / sizeof *of_kernels; i++)
        if (!of_kernels[i].applies && arguments_flag(a, of_kernels[i].option))
            return err_usage(e, "--as %s writes no kernels: --%s has no meaning there", name,
                             of_kernels[i].option);
    return !form->make || arguments_text(a, "out") ||
           err_usage(e, "--as %s is written to a file: name it with --out FILE", name);
}

// Tables hold times, by which programs choose.
static bool has_times(struct store *store, int64_t session, struct err *e)
{
    struct arena arena;
    struct session_record r;
    arena_init(&arena);
    bool ok = store_get_session(store, session, &arena, &r, e) &&
              (speed_objective(&r).kind == OBJECTIVE_TIME ||
               err_set(e, "session %" PRId64 " is not in a table of times: its objective is %s",
                       session, r.objective));
    arena_finish(&arena);
    return ok;
}

static bool write_form(const struct form *form, struct store *store, const struct arguments *a,
                       struct err *e)
{
    for (int i = 0; form != &forms[0] && i < a->operand_count; i++)
        if (!common_check_verdict(a, store, strtoll(a->operand[i], NULL, 10), e) ||
            (form->make && !has_times(store, strtoll(a->operand[i], NULL, 10), e)))
            return false;
    if (!form->make && arguments_flag(a, "in")) {
        int64_t *id = session_ids(a);
        bool ok = export_patch(store,
                               &(struct patch_request){
                                   .session = id,
                                   .count = a->operand_count,
                                   .form = arguments_text(a, "as"),
                                   .folder = arguments_text(a, "in"),
                                   .most = (int)arguments_integer(a, "best", 1),
                               },
                               e);
        free(id);
        return ok;
    }
    if (!form->make)
        return export_form(store, strtoll(a->operand[0], NULL, 10), arguments_text(a, "as"),
                           (int)arguments_integer(a, "best", 1), arguments_flag(a, "json"), e);
    struct export_text text = {
        .path = arguments_text(a, "out"),
        .replaces = form->adds || arguments_flag(a, "force"),
        .json = arguments_flag(a, "json"),
    };
    bool ok = export_text_may_write(&text, e) && form->make(store, a, &text, e) &&
              export_text_write(&text, e);
    str_finish(&text.text);
    str_finish(&text.detail);
    return ok;
}

// Allows a checkout, git above it, and the program of git, which looks at what the user has set.
static void read_checkout(struct sandbox *s, const char *folder)
{
    char *real = realpath(folder, NULL), *at = real ? mem_strdup(real) : NULL;
    sandbox_allow(s, SANDBOX_READ, real);
    sandbox_allow(s, SANDBOX_RUN, EXPORT_GIT);
    for (bool more = at != NULL; more;) {
        char *git = path_join(at, ".git"), *above = path_folder(at);
        if (file_exists(git))
            sandbox_allow(s, SANDBOX_READ, at);
        more = !file_exists(git) && strcmp(at, "/") != 0;
        free(git);
        free(at);
        at = above;
    }
    free(at);
    free(real);
}

static int run_export(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct export_request request;
    struct sandbox s;
    const struct form *form = NULL;
    const char *out = arguments_text(a, "out");
    (void)self;
    if (!find_form(a, &form, &e) || !check_words(a, form, &e))
        return fail_with(&e, EXIT_USAGE);
    bool recorded = form && form->recorded;
    double slower = arguments_real(a, "slower", -1);
    request = (struct export_request){
        .session = strtoll(a->operand[0], NULL, 10),
        .folder = out,
        .count = (int)arguments_integer(a, "best", 1),
        .trial = arguments_integer(a, "trial", 0),
        .name = arguments_text(a, "name"),
        .form = recorded ? form->recorded : NULL,
        .verify = arguments_flag(a, "verify"),
        .reverify = {.has_slower = slower >= 0,
                     .slower_percent = slower,
                     .fault = arguments_text(a, "fault")},
        .force = arguments_flag(a, "force"),
        .dry_run = arguments_flag(a, "dry-run"),
        .json = arguments_flag(a, "json"),
    };
    char *database = common_database(a);
    confine_begin(&s);
    confine_write_database(&s, database);
    confine_read_recordings(&s, database);
    if (arguments_flag(a, "in"))
        read_checkout(&s, arguments_text(a, "in"));
    if (form && !recorded)
        confine_write_beside(&s, form->make ? out : NULL);
    else
        confine_write_folder(&s, out ? out : EXPORT_STANDARD_FOLDER);
    confine_enter(&s);
    free(database);
    struct store *store = common_open_session(a, request.session, &e);
    if (!store)
        return fail_with(&e, EXIT_FAILED);
    bool ok = recorded ? export_recording(store, &request, &e)
              : form   ? write_form(form, store, a, &e)
                       : export_run(store, &request, &e);
    store_close(store);
    return common_exit(ok, &e);
}

static const struct option options[] = {
    {"as", OPTION_REPEATED, "FORM",
     "write another form: recording, kernel-tuner or t4 (all trials); with --out FILE warm-start "
     "(the N best, default 8, for tune), table (the best of each session, for lookup) or tuned "
     "(the same by device and shape); or print a form that the space file declares (constants, "
     "ggml)"},
    {"out", OPTION_TEXT, "DIR|FILE",
     "folder of the files, made when missing (default: export), or the file of --as"},
    {"in", OPTION_TEXT, "DIR",
     "print --as FORM as a patch of that program's source in DIR, a checkout, as `git apply` takes "
     "it"},
    {"best", OPTION_INTEGER, "N", "export the N best, not only the best one", 1, 1000},
    {"trial", OPTION_INTEGER, "N", "export trial N, and not the best", 1, 9e18},
    {"name", OPTION_TEXT, "NAME",
     "name of the files (default: made from the space and the problem)"},
    {"verify", OPTION_FLAG, NULL,
     "run, check and time the kernels again first; write nothing unless all pass"},
    {"slower", OPTION_REAL, "PCT",
     "with --verify: per cent by which kernels may be slower (default: 5, or three times the "
     "spread of their samples)",
     0, 1e6},
    OPTION_ANYWAY,
    {"dry-run", OPTION_FLAG, NULL, "list the files, but write nothing"},
    {"force", OPTION_FLAG, NULL, "replace existing files, also another session's"},
    {"csv", OPTION_TEXT, .help = "show ID --csv has the trials", .hidden = true, .now = ""},
    {"table", OPTION_TEXT, .hidden = true, .now = "as=table out=*"},
    {"tuned", OPTION_TEXT, .hidden = true, .now = "as=tuned out=*"},
    {"warm-start", OPTION_TEXT, .hidden = true, .now = "as=warm-start out=*"},
    {"recording", OPTION_FLAG, .hidden = true, .now = "as=recording"},
    {"format", OPTION_TEXT, "FORM", .hidden = true, .now = "as=*"},
    OPTION_FAULT,
    OPTION_GLSLANG,
    OPTION_SANDBOX,
    OPTION_JSON,
    OPTION_DB,
    OPTION_END,
};

const struct command cmd_export = {
    .name = "export",
    .operands = "ID...",
    .help =
        "write the best kernels of a session as files (GLSL, SPIR-V, JSON, C header), or a network "
        "as a folder that runs",
    .least = 1,
    .most = 1000,
    .options = options,
    .run = run_export,
};
