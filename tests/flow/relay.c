// Stands in ssh's place: what follows `--` and the host is run here (as $TILEWALK_PROGRAM), and
// what goes to and fro passes by on a bad line. $TILEWALK_RELAY says how bad:
//
//     delay=MS   each piece arrives so much later
//     cut=SEED   after a number of bytes that the seed and the count of connections give, the line
//     stall=SEED is cut, stands still for ever, or
//     kill=SEED  the other side is killed
//     garble=SEED one piece in eight has a byte that was another one, once it has begun
//     least=N    bytes that a connection bears in any case
//     most=N     and above these
//     lives=N    connections that there are in all; then the host cannot be reached
//     count=FILE in which connections are counted, a byte each
//
// The first connection bears at least as much as it takes to begin.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 4096, MOST_PIECES = 4096, LEAST_BYTES = 600, MOST_BYTES = 12000 };

struct piece {
    int64_t due_ms;
    int count;
    char bytes[PIECE];
};

struct way { // one direction: a ring of pieces on the way
    int from, to;
    struct piece *piece[MOST_PIECES];
    unsigned first, last;
    bool closed;
    long garbles; // seed; -1: it does not
};

static char option_file[1000];

static long option(const char *name, long standard)
{
    const char *all = getenv("TILEWALK_RELAY"), *at = all ? strstr(all, name) : NULL;
    return at ? strtol(at + strlen(name), NULL, 10) : standard;
}

static long count_connection(void)
{
    const char *all = getenv("TILEWALK_RELAY"), *at = all ? strstr(all, "count=") : NULL;
    struct stat info = {0};
    if (!at || sscanf(at, "count=%999s", option_file) != 1)
        return 0;
    int fd = open(option_file, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0 || fstat(fd, &info) != 0 || write(fd, "x", 1) != 1)
        exit(99);
    close(fd);
    return (long)info.st_size;
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

// SplitMix64.
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static long break_after(long seed, long connection)
{
    long least = option("least=", connection ? 0 : LEAST_BYTES);
    return least + (long)(mix((uint64_t)seed * 1000 + (uint64_t)connection) %
                          (uint64_t)option("most=", MOST_BYTES));
}

static void garble(struct piece *p, long seed, unsigned number)
{
    uint64_t x = mix((uint64_t)seed * 1000003 + number);
    if (seed >= 0 && p->count > 0 && number > 1 && x % 8 == 0)
        p->bytes[(x >> 8) % (uint64_t)p->count] ^= (char)(1 << ((x >> 40) % 8));
}

static void take(struct way *w, long delay_ms)
{
    struct piece *p = malloc(sizeof *p);
    if (!p || w->last - w->first == MOST_PIECES)
        exit(99);
    ssize_t n = read(w->from, p->bytes, PIECE);
    p->count = n > 0 ? (int)n : 0; // 0: the end, which has its delay too
    garble(p, w->garbles, w->last);
    p->due_ms = now_ms() + delay_ms;
    w->closed = n <= 0;
    w->piece[w->last++ % MOST_PIECES] = p;
}

// Returns how many bytes went on; -1: the end.
static long pass_on(struct way *w)
{
    long bytes = 0;
    for (; w->first != w->last && w->piece[w->first % MOST_PIECES]->due_ms <= now_ms();
         w->first++) {
        struct piece *p = w->piece[w->first % MOST_PIECES];
        int at = 0;
        if (p->count == 0)
            return -1;
        while (at < p->count) {
            ssize_t n = write(w->to, p->bytes + at, (size_t)(p->count - at));
            if (n <= 0)
                return -1;
            at += (int)n;
        }
        bytes += p->count;
        free(p);
    }
    return bytes;
}

static int wait_ms(const struct way *w, int ms)
{
    if (w->first == w->last)
        return ms;
    int64_t left = w->piece[w->first % MOST_PIECES]->due_ms - now_ms();
    return left < 0 ? 0 : left < ms ? (int)left + 1 : ms;
}

static void go_wrong(pid_t agent)
{
    if (option("stall=", -1) >= 0)
        for (;;)
            pause(); // until whoever has started us ends us
    if (option("kill=", -1) >= 0)
        kill(agent, SIGKILL);
    else
        _exit(255);
}

static void relay(struct way way[2], pid_t agent, long limit, long delay_ms)
{
    long bytes = 0;
    for (;;) {
        struct pollfd fds[2];
        for (int i = 0; i < 2; i++)
            fds[i] = (struct pollfd){.fd = way[i].closed ? -1 : way[i].from, .events = POLLIN};
        poll(fds, 2, wait_ms(&way[0], wait_ms(&way[1], 60000)));
        for (int i = 0; i < 2; i++) {
            if (fds[i].revents)
                take(&way[i], delay_ms);
            long passed = pass_on(&way[i]);
            if (passed < 0)
                return;
            bytes += passed;
        }
        if (limit >= 0 && bytes >= limit) {
            go_wrong(agent);
            limit = -1;
        }
    }
}

static pid_t start(char **argv, int ends[2])
{
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        exit(99);
    pid_t pid = fork();
    if (pid != 0) {
        close(ends[1]);
        return pid;
    }
    dup2(ends[1], STDIN_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    argv[0] = getenv("TILEWALK_PROGRAM");
    execv(argv[0], argv);
    _exit(127);
}

int main(int argc, char **argv)
{
    int at = 1, ends[2];
    long connection = count_connection(), lives = option("lives=", -1);
    static const char *const ways[] = {"cut=", "stall=", "kill="};
    long limit = -1;
    while (at < argc && strcmp(argv[at], "--") != 0)
        at++;
    if (at + 2 >= argc || (lives >= 0 && connection >= lives)) {
        fprintf(stderr, "ssh: connect to host %s port 22: Connection refused\n",
                at + 1 < argc ? argv[at + 1] : "?");
        return 255;
    }
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (option(ways[i], -1) >= 0)
            limit = break_after(option(ways[i], -1), connection);
    signal(SIGPIPE, SIG_IGN);
    pid_t agent = start(argv + at + 2, ends);
    struct way way[2] = {{.from = STDIN_FILENO, .to = ends[0]},
                         {.from = ends[0], .to = STDOUT_FILENO}};
    for (int i = 0; i < 2; i++)
        way[i].garbles = option("garble=", -1) < 0 ? -1 : option("garble=", -1) * 1000 + connection;
    relay(way, agent, limit, option("delay=", 0));
    _exit(255); // pieces may still be on the way
}
