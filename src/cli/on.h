// --on local: and --on ssh:HOST: the machines whose agents measure for a run, and how each is
// reached.
//
//     struct on on;
//     int count = arguments_list(a, "on", text, ON_MOST);
//     if (!on_begin(&on, text, count, e)) ...     before the sandbox is entered
//     options.dialer = on_dialer(&on);
//     on_end(&on);
//
// A host may have an entry in hosts.conf, in the user's configuration folder, a line each; a line
// that begins with # is a comment:
//
//     rack1 = address=gpu@10.0.0.5 program=/opt/tilewalk/bin/tilewalk -p 2222
//
// `address` is what ssh is given (default: the name), `program` what is started there (default:
// tilewalk); all other words are options of ssh.
#ifndef TILEWALK_CLI_ON_H
#define TILEWALK_CLI_ON_H

#include "cli/command.h"
#include "trial/dialer.h"

#define ON_MOST 64

#define OPTION_ON                                                                                  \
    {                                                                                              \
        "on", OPTION_REPEATED, "local:|ssh:HOST",                                                  \
            "measure on the devices of another machine, whose `tilewalk agent` ssh starts, or of " \
            "an agent here; may be repeated: all of them, which have to be alike, measure for "    \
            "the session"                                                                          \
    }

struct on {
    struct dialer dialer; // no pid: --on was not given
    struct dial_place place[ON_MOST];
    char **word; // heap, all that the places point to
    int words;
};

bool on_begin(struct on *on, const char *const *text, int count, struct err *e);
struct dialer *on_dialer(struct on *on); // NULL: there are no machines
void on_end(struct on *on);              // in any case

#endif
