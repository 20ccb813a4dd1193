#include "bench_stubs.h"

#include "bench.h"

#include "base/mem.h"
#include "base/os.h"
#include "base/str.h"
#include "fleet/queue.h"
#include "trial/message.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAY_NS ((int64_t)5000000000)

struct stub {
    int fd, number;
    bool waits; // for a job
    struct greeting greeting;
    char *bytes; // that came, and were not understood yet
    size_t length, capacity;
};

static struct {
    struct stub *of;
    struct pollfd *fds; // [count + 1]: the last one closes with whoever began us
    int count, port;
    char class[QUEUE_ID];
    int64_t messages;
    int ends[2], answer[2];
    pid_t pid;
} stubs;

// --- what it says ---

static void put(struct stub *s, const char *subject, const char *reply, const char *text)
{
    char *line = mem_printf("PUB %s %s %zu\r\n%s\r\n", subject, reply, strlen(text), text);
    size_t length = strlen(line);
    if (write(s->fd, line, length) != (ssize_t)length)
        bench_fail("a stub lost its connection", NULL);
    free(line);
    stubs.messages++;
}

static void say_here(struct stub *s)
{
    char subject[QUEUE_ID];
    struct message m = {MESSAGE_MEMBER, .greeting = s->greeting, .member = {.players = 1}};
    snprintf(subject, sizeof subject, "tw.here.%s", s->greeting.machine);
    char *text = message_text(&m);
    put(s, subject, "", text);
    free(text);
}

static void ask_for_job(struct stub *s)
{
    char subject[2 * QUEUE_ID], inbox[QUEUE_ID];
    snprintf(subject, sizeof subject, "$JS.API.CONSUMER.MSG.NEXT.TWJOBS.%s", stubs.class);
    snprintf(inbox, sizeof inbox, "_INBOX.stub%d", s->number);
    put(s, subject, inbox, "{\"batch\":1,\"expires\":20000000000}");
    s->waits = true;
}

// Puts a result under the id of its trial, without which it would be dropped.
static void put_result(struct stub *s, const char *to, const char *head, const char *text)
{
    const char *id = strstr(head, "Nats-Msg-Id:");
    if (!id)
        bench_fail("a stub got a trial without an id", NULL);
    char *own = mem_printf("NATS/1.0\r\n%.*s\r\n\r\n", (int)strcspn(id, "\r"), id);
    char *line = mem_printf("HPUB %s %zu %zu\r\n%s%s\r\n", to, strlen(own),
                            strlen(own) + strlen(text), own, text);
    if (write(s->fd, line, strlen(line)) != (ssize_t)strlen(line))
        bench_fail("a stub cannot give a result", NULL);
    free(own);
    free(line);
}

static void answer(struct stub *s, const char *subject, const char *reply, const char *head,
                   const char *text)
{
    struct message m;
    const char *run = strchr(subject + strlen("tw.job."), '.') + 1;
    if (!message_parse(text, &m, NULL) || m.type != MESSAGE_RESULT)
        bench_fail("a stub got what is no made-up trial", NULL);
    snprintf(m.result.machine, sizeof m.result.machine, "%s", s->greeting.machine);
    m.result.ticket = m.number;
    char *result = message_result(&m.result, m.only_compiled, m.settled, &m.kept, m.at_ns);
    char *to = mem_printf("tw.result.%s", run);
    put_result(s, to, head, result);
    put(s, reply, "", "+ACK");
    free(to);
    free(result);
    message_finish(&m);
}

// --- what it hears ---

static void take(struct stub *s, const char *subject, const char *reply, const char *head,
                 const char *text)
{
    stubs.messages++;
    if (str_equal(subject, "tw.who")) {
        say_here(s);
        if (!s->waits)
            ask_for_job(s);
    } else if (str_starts(subject, "tw.job.")) {
        answer(s, subject, reply, head, text);
        ask_for_job(s);
    } else { // of its request: it is over (408), or the queue is not there now, until tw.who
        s->waits = false;
        if (strstr(head, " 408"))
            ask_for_job(s);
    }
}

// "MSG SUBJECT SID [REPLY] BYTES", or "HMSG SUBJECT SID [REPLY] HEADERS BYTES". Returns how many
// bytes follow that line; 0: they are not all there.
static size_t take_message(struct stub *s, size_t line_length)
{
    char *line = mem_printf("%.*s", (int)line_length - 2, s->bytes), *rest, *word[6] = {line};
    int words = 0;
    bool headed = line[0] == 'H';
    for (char *at = strtok_r(line, " ", &rest); at && words < 6; at = strtok_r(NULL, " ", &rest))
        word[words++] = at;
    size_t total = strtoul(word[words - 1], NULL, 10);
    size_t head = headed ? strtoul(word[words - 2], NULL, 10) : 0;
    bool whole = s->length >= line_length + total + 2 && head <= total;
    if (whole) {
        const char *payload = s->bytes + line_length;
        char *heads = mem_printf("%.*s", (int)head, payload);
        char *text = mem_printf("%.*s", (int)(total - head), payload + head);
        take(s, word[1], words == 5 + headed ? word[3] : "", heads, text);
        free(heads);
        free(text);
    }
    free(line);
    return whole ? total + 2 : 0;
}

// One operation of those that came; false: it is not all there.
static bool next(struct stub *s)
{
    char *end = memchr(s->bytes, '\n', s->length);
    if (!end)
        return false;
    size_t used = (size_t)(end - s->bytes) + 1;
    if (str_starts(s->bytes, "HMSG ") || str_starts(s->bytes, "MSG ")) {
        size_t payload = take_message(s, used);
        if (!payload)
            return false;
        used += payload;
    } else if (str_starts(s->bytes, "PING")) {
        if (write(s->fd, "PONG\r\n", 6) != 6)
            bench_fail("a stub lost its connection", NULL);
    }
    s->length -= used;
    memmove(s->bytes, s->bytes + used, s->length + 1);
    return true;
}

static void hear(struct stub *s)
{
    char bytes[1 << 14];
    ssize_t n = read(s->fd, bytes, sizeof bytes);
    if (n <= 0)
        bench_fail("a stub lost its connection", NULL);
    while (s->length + (size_t)n + 1 > s->capacity)
        s->bytes = mem_resize(s->bytes, s->capacity = s->capacity ? 2 * s->capacity : 4096, 1);
    memcpy(s->bytes + s->length, bytes, (size_t)n);
    s->length += (size_t)n;
    s->bytes[s->length] = '\0';
    while (s->length && next(s))
        continue;
}

// --- all of them ---

static void connect_stub(struct stub *s, int number)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)stubs.port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    s->fd = socket(AF_INET, SOCK_STREAM, 0);
    s->number = number;
    s->greeting = greeting_of_this();
    snprintf(s->greeting.machine, sizeof s->greeting.machine, "stub-%d", number);
    char *hello =
        mem_printf("CONNECT {\"verbose\":false,\"headers\":true,\"no_responders\":true}\r\n"
                   "SUB tw.who 1\r\nSUB _INBOX.stub%d 2\r\n",
                   number);
    if (connect(s->fd, (struct sockaddr *)&to, sizeof to) != 0 ||
        write(s->fd, hello, strlen(hello)) != (ssize_t)strlen(hello))
        bench_fail("a stub cannot connect", NULL);
    free(hello);
}

static _Noreturn void be_stubs(void)
{
    int64_t said_ns = os_now_ns();
    close(stubs.ends[1]);
    for (int i = 0; i < stubs.count; i++) {
        connect_stub(&stubs.of[i], i);
        stubs.fds[i] = (struct pollfd){.fd = stubs.of[i].fd, .events = POLLIN};
        say_here(&stubs.of[i]);
    }
    stubs.fds[stubs.count] = (struct pollfd){.fd = stubs.ends[0], .events = POLLIN};
    while (!stubs.fds[stubs.count].revents) {
        poll(stubs.fds, (nfds_t)stubs.count + 1, 1000);
        bool says = os_now_ns() > said_ns + SAY_NS;
        for (int i = 0; i < stubs.count; i++) {
            if (stubs.fds[i].revents)
                hear(&stubs.of[i]);
            if (says)
                say_here(&stubs.of[i]);
        }
        said_ns = says ? os_now_ns() : said_ns;
    }
    bool told = write(stubs.answer[1], &stubs.messages, sizeof stubs.messages) > 0;
    _exit(!told);
}

void stubs_begin(int port, int count)
{
    stubs.port = port;
    stubs.count = count;
    stubs.of = mem_zero((size_t)count, sizeof *stubs.of);
    stubs.fds = mem_zero((size_t)count + 1, sizeof *stubs.fds);
    queue_class("", greeting_of_this().compiler, stubs.class);
    fflush(NULL);
    if (pipe(stubs.ends) != 0 || pipe(stubs.answer) != 0 || (stubs.pid = fork()) < 0)
        bench_fail("no process for the stubs", NULL);
    if (stubs.pid == 0)
        be_stubs();
    close(stubs.ends[0]);
}

int64_t stubs_end(void)
{
    int64_t messages = 0;
    close(stubs.ends[1]);
    if (read(stubs.answer[0], &messages, sizeof messages) != sizeof messages)
        bench_fail("the stubs have not ended well", NULL);
    waitpid(stubs.pid, NULL, 0);
    free(stubs.of);
    free(stubs.fds);
    return messages;
}
