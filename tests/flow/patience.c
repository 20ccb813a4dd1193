#include "patience.h"

#include "base/file.h"
#include "base/number.h"
#include "base/os.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_NS        250000000
#define MOST_PROCESSES 4096
#define MOST_BELOW     256

struct process {
    pid_t pid, parent;
};

// Calls `visit` for every entry of the folder that is a number.
static void for_each_number(const char *path, void (*visit)(const char *name, void *context),
                            void *context)
{
    DIR *folder = opendir(path);
    for (struct dirent *d; folder && (d = readdir(folder));)
        if (d->d_name[0] >= '1' && d->d_name[0] <= '9')
            visit(d->d_name, context);
    if (folder)
        closedir(folder);
}

// --- who there is ---

// Parses "/proc/PID/stat": the parent is the second field behind the name, which ends with the last
// ')'.
static bool read_process(const char *pid, struct process *out)
{
    struct err e;
    char *text, path[64];
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    if (!file_read(path, &text, NULL, &e))
        return false; // it has ended
    const char *name_end = strrchr(text, ')');
    int parent = 0;
    char state;
    bool ok = name_end && sscanf(name_end + 1, " %c %d", &state, &parent) == 2 && state != 'Z';
    *out = (struct process){(pid_t)atoi(pid), (pid_t)parent};
    free(text);
    return ok;
}

struct listing {
    struct process process[MOST_PROCESSES];
    int count;
};

static void list_process(const char *pid, void *context)
{
    struct listing *l = context;
    l->count += l->count < MOST_PROCESSES && read_process(pid, &l->process[l->count]);
}

static bool is_below(const struct listing *l, pid_t pid, pid_t root)
{
    for (int i = 0; i < l->count; i++)
        if (l->process[i].pid == pid)
            return l->process[i].parent == root || is_below(l, l->process[i].parent, root);
    return false;
}

int processes_below(pid_t root, pid_t *out, int most)
{
    struct listing l = {.count = 0};
    int count = 0;
    for_each_number("/proc", list_process, &l);
    for (int i = 0; i < l.count && count < most; i++)
        if (is_below(&l, l.process[i].pid, root))
            out[count++] = l.process[i].pid;
    return count;
}

// --- what they did ---

struct looked {
    char folder[64]; // of the threads of a process
    int64_t run_ns, line_ns;
};

// Parses "/proc/PID/task/TID/schedstat": nanoseconds on a processor, nanoseconds of waiting for
// one, times it got one.
static void add_thread(const char *thread, void *context)
{
    struct err e;
    struct looked *l = context;
    char *text, path[128];
    int64_t run_ns, line_ns;
    snprintf(path, sizeof path, "%s/%.20s/schedstat", l->folder, thread);
    if (!file_read(path, &text, NULL, &e))
        return;
    if (sscanf(text, "%" SCNd64 " %" SCNd64, &run_ns, &line_ns) == 2) {
        l->run_ns += run_ns;
        l->line_ns += line_ns;
    }
    free(text);
}

static struct looked look_below(pid_t root)
{
    pid_t below[MOST_BELOW];
    struct looked l = {.run_ns = 0};
    int count = processes_below(root, below, MOST_BELOW);
    for (int i = 0; i < count; i++) {
        snprintf(l.folder, sizeof l.folder, "/proc/%d/task", (int)below[i]);
        for_each_number(l.folder, add_thread, &l);
    }
    return l;
}

void patience_begin(struct patience *p, pid_t root)
{
    *p = (struct patience){.root = root, .looked_ns = os_now_ns(), .run_ns = -1};
}

// Processes that have ended since the last look are not in the sum any more: the clock is used
// then.
double patience_spent_s(struct patience *p)
{
    int64_t now_ns = os_now_ns(), passed_ns = now_ns - p->looked_ns, counted_ns = passed_ns;
    if (passed_ns < LOOK_NS)
        return p->spent_s + (double)passed_ns / 1e9;
    struct looked l = look_below(p->root);
    if (p->run_ns >= 0 && l.run_ns >= p->run_ns && l.line_ns >= p->line_ns)
        counted_ns = int64_max(int64_min(passed_ns, l.run_ns - p->run_ns),
                               passed_ns - (l.line_ns - p->line_ns));
    p->spent_s += (double)counted_ns / 1e9;
    p->looked_ns = now_ns;
    p->run_ns = l.run_ns;
    p->line_ns = l.line_ns;
    return p->spent_s;
}
