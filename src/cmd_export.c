#include "common.h"
#include "export.h"

static int run_export(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct export_request request = {
        .folder = arguments_text(a, "out"),
        .count = (int)arguments_integer(a, "best", 1),
        .name = arguments_text(a, "name"),
        .json = arguments_flag(a, "json"),
    };
    (void)self;
    if (!common_session_id(a->operand[0], &request.session, &e))
        return fail_with(&e, EXIT_USAGE);
    struct store *store = common_open_session(a, request.session, &e);
    if (!store)
        return fail_with(&e, EXIT_FAILED);
    bool ok = export_run(store, &request, &e);
    store_close(store);
    return ok ? EXIT_OK : fail_with(&e, EXIT_FAILED);
}

static const struct option options[] = {
    {"out", OPTION_TEXT, "DIR", "folder of the files, made when missing (default: export)"},
    {"best", OPTION_INTEGER, "N", "export the N best, not only the best one", 1, 1000},
    {"name", OPTION_TEXT, "NAME", "of the files (default: made from the space and the problem)"},
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
