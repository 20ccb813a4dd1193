// export: writes sessions as kernels, recordings, tables and other files.
#include "export/export.h"
#include "base/file.h"
#include "cli/common.h"
#include "cli/confine.h"
#include "cli/trial_list.h"
#include "engine/transfer.h"
#include "export/text.h"
#include "export/tuned.h"
#include "report/kernel_table.h"

#include <stdlib.h>

// A form of a session beside kernels: one file, named by the option, or lines on stdout.
struct way {
    const char *option;
    bool chooses; // trials, by --best
    bool many;    // takes several sessions
    bool adds;    // to an existing file
    bool (*make)(struct store *store, const struct arguments *a, struct export_text *out,
                 struct err *e); // the file's text; NULL: it is printed
};

static bool collect_trial(void *context, const struct trial_record *t)
{
    if (t->outcome != OUTCOME_OPEN && t->number > 0)
        trial_list_add(context, t);
    return true;
}

static bool make_csv(struct store *store, const struct arguments *a, struct export_text *out,
                     struct err *e)
{
    struct session_record session;
    struct trial_list list;
    struct arena arena;
    int64_t id = strtoll(a->operand[0], NULL, 10);
    arena_init(&arena);
    trial_list_init(&list, &session, LIST_CSV, ORDER_ASK);
    bool ok = store_get_session(store, id, &arena, &session, e) &&
              trial_list_read_races(&list, store, e) &&
              store_each_trial(store, id, 1, collect_trial, &list, e);
    if (ok)
        trial_list_add_text(&list, 0, &out->text);
    out->entries = list.count;
    out->what = "trial";
    trial_list_finish(&list);
    arena_finish(&arena);
    return ok;
}

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

static bool make_tuned(struct store *store, const struct arguments *a, struct export_text *out,
                       struct err *e)
{
    int64_t *id = mem_zero((size_t)a->operand_count, sizeof *id);
    for (int i = 0; i < a->operand_count; i++)
        id[i] = strtoll(a->operand[i], NULL, 10);
    bool ok = export_tuned(store, id, a->operand_count, &out->text, e);
    free(id);
    out->entries = a->operand_count;
    out->what = "session";
    return ok;
}

static const struct way ways[] = {
    {.option = "csv", .make = make_csv},
    {.option = "warm-start", .chooses = true, .make = make_warm_start},
    {.option = "table", .many = true, .adds = true, .make = make_table},
    {.option = "tuned", .many = true, .make = make_tuned},
    {.option = "as", .chooses = true},
    {NULL},
};

static bool write_way(const struct way *way, struct store *store, const struct arguments *a,
                      struct err *e)
{
    if (!way->make)
        return export_form(store, strtoll(a->operand[0], NULL, 10), arguments_text(a, way->option),
                           (int)arguments_integer(a, "best", 1), arguments_flag(a, "json"), e);
    struct export_text text = {
        .path = arguments_text(a, way->option),
        .replaces = way->adds || arguments_flag(a, "force"),
        .json = arguments_flag(a, "json"),
    };
    bool ok = export_text_may_write(&text, e) && way->make(store, a, &text, e) &&
              export_text_write(&text, e);
    str_finish(&text.text);
    str_finish(&text.detail);
    return ok;
}

static bool check_words(const struct arguments *a, const struct way *way, struct err *e)
{
    int64_t id;
    for (int i = 0; i < a->operand_count; i++)
        if (!common_session_id(a->operand[i], &id, e))
            return false;
    if (a->operand_count > 1 && !(way && way->many))
        return err_usage(e,
                         "export: '%s' is one argument too many (only --table and --tuned "
                         "take several sessions)",
                         a->operand[1]);
    if (arguments_flag(a, "recording") && !way &&
        (arguments_flag(a, "verify") || arguments_flag(a, "dry-run") ||
         arguments_integer(a, "best", 1) > 1))
        return err_usage(e,
                         "--recording writes all trials: it neither chooses nor verifies kernels");
    if (arguments_text(a, "format") && !arguments_flag(a, "recording"))
        return err_usage(e, "--format is the form of --recording (give both)");
    if (arguments_real(a, "slower", -1) >= 0 && !arguments_flag(a, "verify"))
        return err_usage(e, "--slower is the tolerance of --verify (give both)");
    if (!way)
        return true;
    static const char *const of_kernels[] = {"recording", "format", "verify",
                                             "dry-run",   "out",    "name"};
    for (const struct way *other = way + 1; other->option; other++)
        if (arguments_text(a, other->option))
            return err_usage(e, "--%s and --%s are two exports (choose one)", way->option,
                             other->option);
    for (size_t i = 0; i < sizeof of_kernels / sizeof *of_kernels; i++)
        if (arguments_flag(a, of_kernels[i]))
            return err_usage(e, "--%s writes no files of kernels: --%s has no meaning there",
                             way->option, of_kernels[i]);
    return way->chooses || !arguments_integer(a, "best", 0) ||
           err_usage(e, "--%s does not choose among trials: --best has no meaning there",
                     way->option);
}

static void export_confine(const struct arguments *a, const struct way *way)
{
    struct sandbox s;
    const char *folder = arguments_text(a, "out");
    char *database = common_database(a);
    confine_begin(&s);
    confine_write_database(&s, database);
    confine_read_recordings(&s, database);
    if (way)
        confine_write_beside(&s, way->make ? arguments_text(a, way->option) : NULL);
    else
        confine_write_folder(&s, folder ? folder : EXPORT_STANDARD_FOLDER);
    confine_enter(&s);
    free(database);
}

static int run_export(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct export_request request;
    const struct way *way = ways;
    (void)self;
    while (way->option && !arguments_text(a, way->option))
        way++;
    way = way->option ? way : NULL; // NULL: kernels, or a recording
    if (!check_words(a, way, &e))
        return fail_with(&e, EXIT_USAGE);
    double slower = arguments_real(a, "slower", -1);
    request = (struct export_request){
        .session = strtoll(a->operand[0], NULL, 10),
        .folder = arguments_text(a, "out"),
        .count = (int)arguments_integer(a, "best", 1),
        .name = arguments_text(a, "name"),
        .form = arguments_text(a, "format"),
        .verify = arguments_flag(a, "verify"),
        .reverify = {.has_slower = slower >= 0,
                     .slower_percent = slower,
                     .fault = arguments_text(a, "fault")},
        .force = arguments_flag(a, "force"),
        .dry_run = arguments_flag(a, "dry-run"),
        .json = arguments_flag(a, "json"),
    };
    export_confine(a, way);
    struct store *store = common_open_session(a, request.session, &e);
    if (!store)
        return fail_with(&e, EXIT_FAILED);
    bool ok = way                              ? write_way(way, store, a, &e)
              : arguments_flag(a, "recording") ? export_recording(store, &request, &e)
                                               : export_run(store, &request, &e);
    store_close(store);
    return common_exit(ok, &e);
}

static const struct option options[] = {
    {"out", OPTION_TEXT, "DIR", "folder of the files, made when missing (default: export)"},
    {"best", OPTION_INTEGER, "N", "export the N best, not only the best one", 1, 1000},
    {"name", OPTION_TEXT, "NAME",
     "name of the files (default: made from the space and the problem)"},
    {"verify", OPTION_FLAG, NULL,
     "first run, check and time the kernels again on their device; write nothing unless all pass"},
    {"slower", OPTION_REAL, "PCT",
     "with --verify: per cent by which kernels may be slower (default: the larger of 5 and three "
     "times the spread of their samples)",
     0, 1e6},
    {"recording", OPTION_FLAG, NULL,
     "write no kernel but all trials, as a recording for tilewalk replay"},
    {"format", OPTION_WORD, "tilewalk|kernel-tuner|t4",
     "form of --recording: for tilewalk (default), with its topology, or for tools that read "
     "Kernel Tuner's cache files or T4 results"},
    {"csv", OPTION_TEXT, "FILE",
     "write no kernel but the landscape: a row for each trial, its parameters as columns"},
    {"table", OPTION_TEXT, "FILE",
     "add the best kernel of each session to a table of many shapes and devices, for tilewalk "
     "lookup; the fastest for a device and a problem stays"},
    {"tuned", OPTION_TEXT, "FILE",
     "write no kernel but the best configuration of each session by vendor, device, driver, space "
     "and class of the shape, with its ratio to the kernel in use"},
    {"warm-start", OPTION_TEXT, "FILE",
     "write no kernel but the N best configurations (default: 8), for tilewalk tune --warm-start "
     "here or on another machine"},
    {"as", OPTION_TEXT, "constants|ggml|FORM",
     "print the best configuration in a form for another program, which the space file declares "
     "(constants and ggml, in presets for foreign shaders)"},
    {"dry-run", OPTION_FLAG, NULL, "list the files, but write nothing"},
    {"force", OPTION_FLAG, NULL,
     "replace existing files: those that another session's export wrote, or that FILE names"},
    OPTION_FAULT,
    OPTION_GLSLANG,
    OPTION_SANDBOX,
    OPTION_JSON,
    OPTION_DB,
    OPTION_HELP,
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
