#include "common.h"
#include "export.h"

static int run_export(const struct command *self, const struct arguments *a)
{
    struct err e;
    bool understood = false;
    double slower = arguments_real(a, "slower", -1);
    struct export_request request = {
        .folder = arguments_text(a, "out"),
        .count = (int)arguments_integer(a, "best", 1),
        .name = arguments_text(a, "name"),
        .verify = arguments_flag(a, "verify"),
        .reverify = {.has_slower = slower >= 0,
                     .slower_percent = slower,
                     .fault = arguments_text(a, "fault")},
        .force = arguments_flag(a, "force"),
        .dry_run = arguments_flag(a, "dry-run"),
        .json = arguments_flag(a, "json"),
    };
    (void)self;
    bool recording = arguments_flag(a, "recording");
    if (recording && (request.verify || request.dry_run || request.count > 1))
        err_usage(&e, "--recording writes all trials, and no kernel to be chosen or verified");
    else if (slower >= 0 && !request.verify)
        err_usage(&e, "--slower says how --verify judges (give both)");
    else
        understood = common_session_id(a->operand[0], &request.session, &e);
    if (!understood)
        return fail_with(&e, EXIT_USAGE);
    struct store *store = common_open_session(a, request.session, &e);
    if (!store)
        return fail_with(&e, EXIT_FAILED);
    bool ok = recording ? export_recording(store, &request, &e) : export_run(store, &request, &e);
    store_close(store);
    return ok ? EXIT_OK : fail_with(&e, EXIT_FAILED);
}

static const struct option options[] = {
    {"out", OPTION_TEXT, "DIR", "folder of the files, made when missing (default: export)"},
    {"best", OPTION_INTEGER, "N", "export the N best, not only the best one", 1, 1000},
    {"name", OPTION_TEXT, "NAME", "of the files (default: made from the space and the problem)"},
    {"verify", OPTION_FLAG, NULL,
     "first run, check and time them again on their device; write nothing unless all pass"},
    {"slower", OPTION_REAL, "PCT",
     "how much slower they may be then (default: the larger of 5 and three times the spread of "
     "their samples)",
     0, 1e6},
    {"recording", OPTION_FLAG, NULL,
     "write no kernel but all trials, as a recording for tilewalk replay"},
    {"dry-run", OPTION_FLAG, NULL, "list the files, but write nothing"},
    {"force", OPTION_FLAG, NULL, "replace files that another session's export wrote"},
    {"fault", OPTION_TEXT, "KIND@PHASE:N", "inject a fault", 0, 0, true},
    OPTION_JSON,
    OPTION_DB,
    OPTION_HELP,
    OPTION_END,
};

const struct command cmd_export = {
    .name = "export",
    .operands = "ID",
    .help = "write the best kernels of a session as files: GLSL, SPIR-V, JSON, C header",
    .least = 1,
    .most = 1,
    .options = options,
    .run = run_export,
};
