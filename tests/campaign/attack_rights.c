// Capabilities of root: no process that loads drivers, compiles or runs what others wrote keeps
// any.
#include "campaign.h"

#include "patience.h"

#include "base/file.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 64, MOST_S = 5 };

struct suspect { // a worker that has a capability; each has them until it is confined
    pid_t pid;
    struct patience patience;
};

static bool reads(pid_t pid, const char *name, char **text)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    return file_read(path, text, NULL, NULL);
}

static bool is_worker(pid_t pid)
{
    char *text;
    size_t length;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    if (!file_read(path, &text, &length, NULL))
        return false;
    size_t program = strlen(text) + 1;
    bool is = program < length && strcmp(text + program, "measure") == 0;
    free(text);
    return is;
}

static bool has_capability(pid_t pid)
{
    static const char *const sets[] = {"CapInh:", "CapPrm:", "CapEff:", "CapAmb:"};
    char *text;
    bool any = false;
    if (!reads(pid, "status", &text))
        return false;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        const char *at = strstr(text, sets[i]);
        any |= at && strtoull(at + strlen(sets[i]), NULL, 16) != 0;
    }
    free(text);
    return any;
}

static void watch(struct running *r, int *workers)
{
    struct suspect suspect[MOST];
    int suspects = 0;
    siginfo_t info = {.si_pid = 0};
    while (waitid(P_PID, (id_t)r->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && !info.si_pid) {
        pid_t found[MOST];
        int count = processes_below(r->pid, found, MOST);
        for (int i = 0; i < count; i++) {
            int k = 0;
            if (!is_worker(found[i]))
                continue;
            while (k < suspects && suspect[k].pid != found[i])
                k++;
            bool has = has_capability(found[i]);
            *workers += !has;
            if (has && k == suspects && suspects < MOST) {
                suspect[suspects++].pid = found[i];
                patience_begin(&suspect[k].patience, found[i]);
            } else if (has && k < suspects && patience_spent_s(&suspect[k].patience) > MOST_S) {
                fail_msg("worker %d keeps capabilities", (int)found[i]);
            }
        }
        rest_ms(20);
    }
}

static void attempt(struct attempt *a)
{
    struct box *b = a->box;
    const char *file = flow_path(b, "small.lua");
    const char *const ways[][12] = {
        {"tune", file, "--trials", "12", "--workers", "2", "--plain", NULL},
        {"tune", file, "--trials", "12", "--on", "local:", "--plain", NULL},
        {"tune", file, "--trials", "6", "--validate", "--plain", NULL},
        {"check", file, "--compile", "20", NULL},
    };
    int workers = 0;
    if (geteuid() != 0) {
        note_context("left out: it takes root to have capabilities");
        return;
    }
    const char *const *words = PICK(a, ways);
    note_command(words);
    struct running *r = start_list(b, words);
    watch(r, &workers);
    struct result result = finish(b, r);
    if (result.code != 0)
        fail_msg("exit code %d: %.300s", result.code, result.err);
    if (!workers)
        fail_msg("no worker without capabilities was seen");
}

const struct attack attack_rights = {
    .name = "rights",
    .what = "capabilities that workers of root's runs keep",
    .share = 1,
    .needs_device = true,
    .attempt = attempt,
};
