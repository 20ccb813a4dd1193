#include "bench_pool.h"

#include "bench.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/str.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_CHILDREN = 600, PORT_TRIES = 500 };

static struct {
    struct child child[MOST_CHILDREN]; // the server first
    int count;
    char url[64];
} pool;

static void start(const char *const *argv)
{
    struct err e;
    if (pool.count == MOST_CHILDREN || !os_spawn(&pool.child[pool.count++], argv, NULL, -1, &e))
        bench_fail("a process of the pool", &e);
}

static const char *find_server(void)
{
    static const char *const paths[] = {"/usr/sbin/nats-server", "/usr/bin/nats-server",
                                        "/usr/local/bin/nats-server"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (access(paths[i], X_OK) == 0)
            return paths[i];
    return NULL;
}

// It writes {"nats":["nats://127.0.0.1:4222"]} once it listens.
static bool read_url(const char *folder)
{
    glob_t found = {0};
    char *pattern = path_join(folder, "*.ports"), *text = NULL, *url = NULL;
    if (glob(pattern, 0, NULL, &found) == 0 && file_read(found.gl_pathv[0], &text, NULL, NULL) &&
        (url = strstr(text, "nats://")) != NULL)
        snprintf(pool.url, sizeof pool.url, "%.*s", (int)strcspn(url, "\""), url);
    if (url)
        unlink(found.gl_pathv[0]); // the next one's is another
    globfree(&found);
    free(pattern);
    free(text);
    return url != NULL;
}

bool pool_begin(const char *folder)
{
    const char *server = find_server();
    if (!server)
        return false;
    start((const char *const[]){server, "-js", "-sd", folder, "-a", "127.0.0.1", "-p", "-1",
                                "--ports_file_dir", folder, NULL});
    for (int i = 0; i < PORT_TRIES; i++) {
        if (read_url(folder))
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    bench_fail("the pool's server does not say where it listens", NULL);
}

const char *pool_url(void)
{
    return pool.url;
}

pid_t pool_server_pid(void)
{
    return pool.child[0].pid;
}

void pool_add_workers(int count)
{
    char *program = bench_program();
    for (int i = 0; i < count; i++)
        start((const char *const[]){program, "worker", pool.url, "--device", "none", NULL});
    free(program);
}

// "agent\0--pool\0URL" in a command line.
static bool is_broker(const char *path)
{
    char bytes[512] = "";
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(bytes, 1, sizeof bytes - 1, file) : 0;
    if (file)
        fclose(file);
    for (size_t i = 0; i + 1 < n; i++)
        bytes[i] = bytes[i] ? bytes[i] : ' ';
    return strstr(bytes, " agent --pool ") && strstr(bytes, pool.url);
}

double pool_broker_cpu_s(void)
{
    glob_t found = {0};
    int64_t ns = 0;
    glob("/proc/[0-9]*/cmdline", 0, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc; i++)
        if (is_broker(found.gl_pathv[i]))
            ns += os_process_cpu_ns((pid_t)atoi(found.gl_pathv[i] + strlen("/proc/")));
    globfree(&found);
    return (double)ns * 1e-9;
}

void pool_end(void)
{
    while (pool.count > 0)
        os_kill(&pool.child[--pool.count], NULL);
}
