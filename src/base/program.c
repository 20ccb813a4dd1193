#include "base/program.h"

#include "base/os.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

enum { MOST_OUTPUT_BYTES = 1 << 20 };
#define MS_NS ((int64_t)1000000)

bool program_run(const char *const *argv, int seconds, struct str *log, int *status, struct err *e)
{
    char bytes[4096];
    struct child c = {0};
    if (!os_spawn_kept(&c, argv, e))
        return false;
    int64_t end_ns = os_now_ns() + seconds * 1000 * MS_NS;
    bool ended = false;
    for (int64_t left_ns; !ended && (left_ns = end_ns - os_now_ns()) > 0;) {
        poll(&(struct pollfd){.fd = c.stderr_fd, .events = POLLIN}, 1, (int)(left_ns / MS_NS) + 1);
        ssize_t n = read(c.stderr_fd, bytes, sizeof bytes);
        if (n > 0 && log->length < MOST_OUTPUT_BYTES)
            str_add_bytes(log, bytes, (size_t)n);
        ended = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
    }
    while (ended && !os_reap(&c, status))
        poll(NULL, 0, 1); // it is about to end
    os_kill(&c, NULL);
    return ended || err_set(e, "'%s' did not end in %d s", argv[0], seconds);
}
