// Option --on PLACE: the machines whose agents measure for a run, and the
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
// The URL of a pool's server is such a place too: an agent here that measures with the workers of
// the pool (fleet/pool.h). Its entry may name a file of credentials, and certificates that a
// tls:// server is checked against (default: the system's):
//
//     tls://queue = credentials=/home/me/lab.creds ca=/etc/lab.pem
//
// The COMMAND of exec:COMMAND is one of the shell's. It has to lead to an agent on its standard
// input and output.
//
// `wait=S` in any entry is how long a run waits while no machine measures for it (default: 300 s).
#ifndef TILEWALK_CLI_ON_H
#define TILEWALK_CLI_ON_H

#include "cli/command.h"
#include "fleet/queue.h"
#include "trial/remote.h"

#define ON_MOST 64

#define OPTION_ON                                                                                  \
    {"on", OPTION_REPEATED, "local:|ssh:HOST|nats://HOST|exec:'COMMAND'",                          \
     "measure on another machine by ssh, with the workers of a pool (nats://, tls://), by an "     \
     "agent here (local:), or by one that a command of the shell leads to; may be repeated: "      \
     "their devices have to be alike"},                                                            \
        {"pool", OPTION_TEXT, .hidden = true, .now = "on=*"},                                      \
    {                                                                                              \
        "wait", OPTION_REAL, "S", "", 0.001, 1e9, true                                             \
    }
// The members of an entry in hosts.conf as options, for the agents that runs start.
#define OPTION_ACCESS                                                                              \
    {"credentials", OPTION_TEXT, "FILE", "", 0, 0, true},                                          \
    {                                                                                              \
        "ca", OPTION_TEXT, "FILE", "", 0, 0, true                                                  \
    }

struct on {
    struct remote_machines machines; // count 0: --on was not given
    const char *name[ON_MOST];
    struct spawner_command command[ON_MOST]; // machine i is reached by command i
    char **word;                             // heap: everything that these point to
    int words;
};

bool on_begin(struct on *on, const struct arguments *a, const char *const *text, int count,
              struct err *e);
bool on_begin_all(struct on *on, const struct arguments *a, struct err *e); // all of --on
bool on_is_pool(const char *text);
// Warns, in one line, of a server that gets no credentials, or that is elsewhere and not by TLS.
void on_warn_of_pool(const struct queue_options *o);
// Fills the options that reach the pool at `url`, with its entry in hosts.conf, --credentials and
// --ca. `on` (zeroed, or begun) keeps the texts. Returns false where `url` is NULL or wrong.
bool on_pool_options(struct on *on, const struct arguments *a, const char *url,
                     struct queue_options *out, struct err *e);
const struct remote_machines *on_machines(const struct on *on); // NULL: there are none
void on_end(struct on *on); // in any case; also after a failed begin

#endif
