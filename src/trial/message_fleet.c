// What agents, and workers of a pool, say of themselves.
#include "trial/message_writer.h"

#include "base/os.h"
#include "kernel/kernel.h"

#include <ctype.h>
#include <stdio.h>
#include <unistd.h>

// "rack1-5fd0c2a9": of a host's name what may be in it.
static void name_machine(char *out, size_t size)
{
    char host[48] = "";
    gethostname(host, sizeof host - 1);
    for (char *c = host; *c; c++)
        if (!isalnum((unsigned char)*c) && (*c != '.' || c == host))
            *c = c == host ? 'x' : '-';
    snprintf(out, size, "%s-%08x", *host ? host : "host", (unsigned)os_seed());
}

struct greeting greeting_of_this(void)
{
    struct greeting g = {.version = TILEWALK_VERSION, .cores = os_cores()};
    snprintf(g.compiler, sizeof g.compiler, "%s", kernel_built_in());
    name_machine(g.machine, sizeof g.machine);
    return g;
}

static void add_greeting(struct json_writer *w, const struct greeting *g)
{
    json_add_text(w, "version", g->version);
    json_add_text(w, "machine", g->machine);
    json_add_text(w, "compiler", g->compiler);
    json_add_int(w, "cores", g->cores);
    json_add_flag(w, "is_pool", g->is_pool);
}

char *message_greet(const struct greeting *g)
{
    struct str s = {0};
    struct json_writer w = message_start(&s, MESSAGE_GREET);
    add_greeting(&w, g);
    return message_end(&w);
}

char *message_play(int workers)
{
    struct str s = {0};
    struct json_writer w = message_start(&s, MESSAGE_PLAY);
    json_add_int(&w, "workers", workers);
    return message_end(&w);
}

char *message_said(int worker, const char *line)
{
    struct str s = {0};
    struct json_writer w = message_start(&s, MESSAGE_SAID);
    json_add_int(&w, "worker", worker);
    json_add_text(&w, "line", line);
    return message_end(&w);
}

char *message_member(const struct greeting *g, const struct member *m,
                     const struct gpu_info *device)
{
    struct str s = {0};
    struct json_writer w = message_start(&s, MESSAGE_MEMBER);
    add_greeting(&w, g);
    json_add_flag(&w, "leaves", m->leaves);
    json_add_text(&w, "why", m->why);
    json_add_int(&w, "players", m->players);
    json_add_int(&w, "measurers", m->measurers);
    message_add_devices(&w, device, device ? 1 : 0);
    return message_end(&w);
}

char *message_leave(const char *machine, const char *why)
{
    struct str s = {0};
    struct json_writer w = message_start(&s, MESSAGE_LEAVE);
    json_add_text(&w, "machine", machine);
    json_add_text(&w, "why", why);
    return message_end(&w);
}
