#include "pool_server.h"

#include "patience.h"

#include "base/file.h"
#include "base/str.h"

#include <arpa/inet.h>
#include <glob.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LISTEN_MS = 100, LISTEN_S = 60 };

const char *pool_server_program(void)
{
    static const char *const paths[] = {"/usr/sbin/nats-server", "/usr/bin/nats-server",
                                        "/usr/local/bin/nats-server"};
    if (!getenv("TILEWALK_POOLS"))
        return NULL;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (access(paths[i], X_OK) == 0)
            return paths[i];
    return NULL;
}

static void start(struct box *b, struct pool_server *s)
{
    const char *program = b->program, *port = arena_printf(&b->arena, "%d", s->port);
    b->program = pool_server_program();
    s->running = START(b, "-js", "-sd", box_path(b, "nats"), "-a", "127.0.0.1", "-p", port,
                       "--ports_file_dir", box_path(b, "ports"), "-c", box_path(b, "nats.conf"));
    b->program = program;
}

// The file is there once it listens: {"nats":["nats://127.0.0.1:4222"]}.
static bool has_port(struct box *b, void *context)
{
    struct pool_server *s = context;
    glob_t found = {0};
    const char *url = NULL;
    if (glob(box_path(b, "ports/*.ports"), 0, NULL, &found) == 0 &&
        (url = strstr(box_read(b, found.gl_pathv[0]), "://")) != NULL) {
        s->url = arena_printf(&b->arena, "nats%.*s", (int)strcspn(url, "\""), url);
        s->port = atoi(strrchr(s->url, ':') + 1);
        unlink(found.gl_pathv[0]);
    }
    globfree(&found);
    return url != NULL;
}

struct pool_server pool_start(struct box *b, const char *config)
{
    struct pool_server s = {.port = -1};
    struct err e;
    assert_true(file_make_folders(box_path(b, "ports"), &e));
    // A client that stands in line for a processor may take longer than the usual 2 s to say who
    // it is, and for a handshake.
    const char *patient =
        strstr(config, "authorization {") ? "" : "authorization { timeout: 60 }\n";
    box_write(b, "nats.conf", arena_printf(&b->arena, "%s%s", config, patient));
    start(b, &s);
    wait_until(b, "the server of the pool", has_port, &s);
    return s;
}

void pool_kill(struct box *b, struct pool_server *s)
{
    send_signal(s->running, SIGKILL);
    finish(b, s->running);
}

void pool_start_again(struct box *b, struct pool_server *s)
{
    start(b, s);
    wait_until(b, "the server of the pool", has_port, s);
}

// --- by hand ---

int pool_talk_as(const struct pool_server *s, const char *who, const char *subject)
{
    char hello[200];
    snprintf(hello, sizeof hello, "CONNECT {%s\"verbose\":false,\"headers\":true}\r\nSUB %s 1\r\n",
             who, subject);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)s->port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    assert_int_equal(write(fd, hello, strlen(hello)), strlen(hello));
    return fd;
}

int pool_talk(const struct pool_server *s)
{
    return pool_talk_as(s, "", "tw.>");
}

void pool_publish(int fd, const char *subject, const char *text)
{
    char *line = mem_printf("PUB %s %zu\r\n%s\r\n", subject, strlen(text), text);
    assert_int_equal(write(fd, line, strlen(line)), strlen(line));
    free(line);
}

// The first line that holds `wanted`, with the message that it announces ("... BYTES\r\n"); NULL:
// not all of it has come.
static const char *find_whole(const struct str *text, const char *wanted)
{
    const char *at = strstr(str_text(text), wanted), *end = at ? strstr(at, "\r\n") : NULL;
    const char *number = end;
    while (number > at && number[-1] >= '0' && number[-1] <= '9')
        number--;
    return end && strlen(end + 2) >= strtoul(number, NULL, 10) ? at : NULL;
}

// Byte by byte: what comes behind that message is for the next call.
const char *pool_listen(struct box *b, int fd, const char *wanted)
{
    struct str text = {0};
    char byte = 0;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    struct patience patience;
    patience_begin(&patience, getpid());
    while (byte != '\n' || !find_whole(&text, wanted)) {
        if (patience_spent_s(&patience) > LISTEN_S)
            fail_msg("waited %d s in vain for '%s' from the pool's server, which said: %.2000s",
                     LISTEN_S, wanted, str_text(&text));
        if (poll(&p, 1, LISTEN_MS) == 0)
            continue;
        assert_int_equal(read(fd, &byte, 1), 1);
        str_add_char(&text, byte);
    }
    const char *kept = arena_strdup(&b->arena, find_whole(&text, wanted));
    str_finish(&text);
    return kept;
}
