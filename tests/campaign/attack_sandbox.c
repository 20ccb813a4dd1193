// Out of the sandbox: what Lua reaches from a space file and a template, and what a worker reaches
// that has been taken over.
#include "campaign.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Each would leave the file `owned` behind, or does not fail. In the second half of the attempts it
// stands in a template.
static const char *const scripts[] = {
    "io.open('owned', 'w'):close()",
    "os.execute('touch owned')",
    "os.remove('space.lua')",
    "os.getenv('HOME')",
    "require 'io'",
    "package.loadlib('/lib/x86_64-linux-gnu/libc.so.6', '*')",
    "load('return 1')()",
    "loadstring('return 1')()",
    "dofile('/etc/passwd')",
    "debug.getregistry()",
    "coroutine.wrap(function() end)()",
    "collectgarbage('stop')",
    "string.dump(function() end)",
    "setmetatable({}, { __gc = function() end })",
    "getmetatable('').__index.rep = nil",
    "rawset(device, 'type', 'x')",
    "device.type = 'x'",
    "math.random()",
    "os.clock()",
    "_G.x = 1",
    "_ENV.size = nil",
    "string.format('%p', {}):len()",
    "pcall(error)",
    "print('x')",
    "include('/etc/passwd')",
    "include('../../../../../../etc/passwd')",
    "use('/etc/hostname')",
};
enum { SCRIPTS = sizeof scripts / sizeof *scripts };

// Faults of src/trial/fault.h: what a worker does that has been taken over. It ends in the worker's
// death or in a result, never in more. `escape` tries the network, files, programs and its parent,
// and tells of each whether it was done.
static const char *const deeds[] = {"garbage", "half",   "segv", "abort",
                                    "exit",    "memory", "lost", "escape"};
enum { DEEDS = sizeof deeds / sizeof *deeds };

static int64_t count(const struct attempt *a)
{
    return 2 * SCRIPTS + (a->device ? DEEDS : 0);
}

static void try_script(struct attempt *a, const char *script, bool in_template)
{
    struct box *b = a->box;
    static const char text[] =
        "operator.matmul { N = 8, M = 8, K = 8 } param.p = factors(8, 2)\n"
        "kernel { template = 'space.comp', groups = function() return { 1 } end }\n%s\n";
    static const char glsl[] = "#version 450\n%% %s\nvoid main() {}\n";
    note_context(script);
    const char *file =
        box_write(b, "space.lua", arena_printf(&b->arena, text, in_template ? "" : script));
    box_write(b, "space.comp", arena_printf(&b->arena, glsl, in_template ? script : ""));
    struct result r = STRIKE(a, "check", file, "--device", "none", "--glsl");
    if (r.code == 0)
        fail_msg("it is not refused: %.300s", r.out);
    if (access("owned", F_OK) == 0 || access(file, F_OK) != 0)
        fail_msg("it reached a file");
}

// Of kernels that have all of it.
static bool holds_here(struct attempt *a)
{
    struct result r = STRIKE(a, "doctor", "--json");
    const cJSON *sandbox = member(json_of(a->box, r.out), "sandbox");
    return cJSON_IsTrue(member(sandbox, "seccomp")) && cJSON_IsTrue(member(sandbox, "landlock"));
}

static void must_have_refused(struct attempt *a, const char *said)
{
    const char *first = strstr(said, "escape: ");
    if (!first)
        fail_msg("it did not tell what it tried: %.300s", said);
    for (const char *at = first; at; at = strstr(at + 1, "escape: ")) {
        const char *end = strchr(at, '\n');
        const char *done = strstr(at, ": done");
        if (done && end && done < end && holds_here(a))
            fail_msg("it got out: %.*s", (int)(end - at), at);
    }
}

static void try_deed(struct attempt *a, const char *deed)
{
    struct box *b = a->box;
    note_context(deed);
    struct result r = STRIKE(a, "tune", flow_path(b, "small.lua"), "--trials", "3", "--verbose",
                             arena_printf(&b->arena, "--fault=%s@compile:1,%s@run:2", deed, deed));
    if (strcmp(deed, "escape") == 0)
        must_have_refused(a, r.err);
    if (access("owned", F_OK) == 0)
        fail_msg("it reached a file");
    if (number_of(listed_session(b, 1), "trials") != 3)
        fail_msg("trials are lost");
}

static void attempt(struct attempt *a)
{
    if (a->number < 2 * SCRIPTS)
        try_script(a, scripts[a->number / 2], a->number % 2);
    else
        try_deed(a, deeds[a->number - 2 * SCRIPTS]);
}

const struct attack attack_sandbox = {
    .name = "sandbox",
    .what = "files, processes, network from Lua and from a worker",
    .share = 2,
    .count = count,
    .attempt = attempt,
};
