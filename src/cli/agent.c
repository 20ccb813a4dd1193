// agent: measures for a run elsewhere, over stdin and stdout (engine/agent.h).
#include "engine/agent.h"
#include "cli/common.h"
#include "cli/confine.h"
#include "cli/on.h"
#include "fleet/broker.h"

#include <unistd.h>

// It has to reach the pool's server: it is in no sandbox, and reads nothing but messages.
static int run_broker(const struct arguments *a)
{
    struct err e;
    struct queue_options o;
    if (!on_pool_options(a, &o, &e))
        return fail_with(&e, EXIT_USAGE);
    return broker_run(STDIN_FILENO, STDOUT_FILENO, &o, &e) ? EXIT_OK : fail_with(&e, EXIT_FAILED);
}

static int run_agent(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct sandbox s;
    (void)self;
    if (isatty(STDIN_FILENO)) {
        err_usage(&e, "agent: another tilewalk talks to it over stdin and stdout (tilewalk tune "
                      "... --on ssh:HOST starts it)");
        return fail_with(&e, EXIT_USAGE);
    }
    if (arguments_text(a, "pool"))
        return run_broker(a);
    confine_begin(&s);
    confine_enter(&s);
    return agent_run(STDIN_FILENO, STDOUT_FILENO, &e) ? EXIT_OK : fail_with(&e, EXIT_FAILED);
}

static const struct option options[] = {
    OPTION_POOL("measure by the workers of a pool (tune --pool starts it)"),
    OPTION_GLSLANG,
    OPTION_SANDBOX,
    OPTION_HELP,
    OPTION_END,
};

const struct command cmd_agent = {
    .name = "agent",
    .help = "measure for a tilewalk elsewhere, over stdin and stdout (tune --on starts it)",
    .options = options,
    .run = run_agent,
};
