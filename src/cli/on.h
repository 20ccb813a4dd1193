// Options --on local: and --on ssh:HOST: the machines whose agents measure for a run, and the
// command that reaches each.
//
//     struct on on;
//     if (!on_begin_all(&on, a, e)) ...           before the sandbox is entered
//     options.machines = on_machines(&on);
//     on_end(&on);
//
// A host may have an entry in hosts.conf, in the user's configuration folder. Each entry is a line;
// a line that begins with # is a comment:
//
//     rack1 = address=gpu@10.0.0.5 program=/opt/tilewalk/bin/tilewalk -p 2222
//
// ssh connects to `address` (default: the name) and starts `program` there (default: tilewalk). All
// other words are options of ssh.
//
// Option --pool URL adds one more such place: an agent here that measures with the workers of a
// pool (fleet/pool.h).
#ifndef TILEWALK_CLI_ON_H
#define TILEWALK_CLI_ON_H

#include "cli/command.h"
#include "fleet/queue.h"
#include "trial/remote.h"

#define ON_MOST 64

#define OPTION_ON                                                                                  \
    {                                                                                              \
        "on", OPTION_REPEATED, "local:|ssh:HOST",                                                  \
            "measure on the devices of another machine, where ssh starts `tilewalk agent` "        \
            "(ssh:HOST), or of an agent here (local:); may be repeated: the devices of all of "    \
            "them have to be alike and measure for the session together"                           \
    }
#define OPTION_POOL(what)                                                                          \
    {"pool", OPTION_TEXT, "nats://HOST[:PORT]", what},                                             \
        {"credentials", OPTION_TEXT, "FILE",                                                       \
         "credentials of the pool's user, as nsc writes them"},                                    \
    {                                                                                              \
        "ca", OPTION_TEXT, "FILE",                                                                 \
            "certificates that the pool's server (tls://HOST) is checked against (default: the "   \
            "system's)"                                                                            \
    }
#define OPTION_WAIT                                                                                \
    {                                                                                              \
        "wait", OPTION_REAL, "S",                                                                  \
            "seconds to wait while no machine, or no worker of the pool, measures on such a "      \
            "device (default: 300)",                                                               \
            0.001, 1e9                                                                             \
    }

struct on {
    struct remote_machines machines; // count 0: --on was not given
    const char *name[ON_MOST];
    struct spawner_command command[ON_MOST]; // machine i is reached by command i
    char **word;                             // heap: everything that these point to
    int words;
};

bool on_begin(struct on *on, const char *const *text, int count, struct err *e);
bool on_begin_all(struct on *on, const struct arguments *a, struct err *e);  // --on, --pool, --wait
bool on_begin_pool(struct on *on, const struct arguments *a, struct err *e); // --pool alone
// Reads --pool, --credentials and --ca. Returns false where --pool is missing or wrong.
bool on_pool_options(const struct arguments *a, struct queue_options *out, struct err *e);
const struct remote_machines *on_machines(const struct on *on); // NULL: there are none
void on_end(struct on *on); // in any case; also after a failed begin

#endif
