// What a worker sends: a stream of frames, cut where the first byte says, each a message. And what
// comes from a pool: letters, whose subject and text others choose.
#include "harness.h"

#include "fleet/queue.h"

#include "trial/frame.h"
#include "trial/message.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_BYTES = 60000 }; // that a socket takes without a reader

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return 0;
}

static void parse(const char *text)
{
    struct message m;
    struct err e;
    if (!message_parse(text, &m, &e))
        return;
    must(m.type < MESSAGE_TYPE_COUNT, "a message has a type");
    if (m.type == MESSAGE_TRIAL || m.type == MESSAGE_RESULT)
        must(job_candidates(&m) <= TRIAL_MAX_RACERS, "a job has candidates");
    message_finish(&m);
}

static void parse_subject(const char *text)
{
    char run[QUEUE_ID];
    int64_t number;
    if (job_subject(text, run, &number))
        must(strlen(run) < sizeof run && number >= 0, "a subject has a run and a number");
}

static void take_frames(struct link *l)
{
    char *text;
    link_fill(l);
    while (link_next(l, &text) == LINK_FRAME) {
        parse(text);
        free(text);
    }
}

static void send_in_two(const uint8_t *data, size_t size, size_t cut)
{
    int ends[2];
    struct link l;
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "there are sockets");
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    link_init(&l, ends[0], FRAME_MAX_BYTES);
    must(write(ends[1], data, cut) == (ssize_t)cut, "a socket takes bytes");
    take_frames(&l);
    must(write(ends[1], data + cut, size - cut) == (ssize_t)(size - cut), "a socket takes bytes");
    close(ends[1]);
    take_frames(&l);
    link_finish(&l);
    close(ends[0]);
}

// Both as a stream and, so that the bytes need not hold a length that fits, as one message.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > MOST_BYTES)
        return 0;
    char *text = fuzz_text(data + 1, size - 1);
    parse(text);
    parse_subject(text);
    free(text);
    send_in_two(data + 1, size - 1, (size - 1) * data[0] / 256);
    return 0;
}
