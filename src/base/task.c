#include "base/task.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

struct task {
    void (*work)(void *context, const atomic_bool *stop);
    void *context;
    pthread_t thread;
    atomic_bool stop, done;
    int end[2]; // a pipe, which holds a byte once the work is done
};

static void *task_run(void *context)
{
    struct task *t = context;
    t->work(t->context, &t->stop);
    atomic_store(&t->done, true);
    while (write(t->end[1], "d", 1) < 0 && errno == EINTR) {
    }
    return NULL;
}

static void release(struct task *t)
{
    close(t->end[0]);
    close(t->end[1]);
    free(t);
}

struct task *task_start(void (*work)(void *context, const atomic_bool *stop), void *context)
{
    struct task *t = mem_zero(1, sizeof *t);
    t->work = work;
    t->context = context;
    atomic_init(&t->stop, false);
    atomic_init(&t->done, false);
    if (pipe(t->end) != 0) {
        free(t);
        return NULL;
    }
    for (int i = 0; i < 2; i++)
        fcntl(t->end[i], F_SETFD, FD_CLOEXEC);
    // A new thread inherits the blocked signals.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&t->thread, NULL, task_run, t) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        return t;
    release(t);
    return NULL;
}

int task_fd(const struct task *t)
{
    return t->end[0];
}

bool task_is_done(const struct task *t)
{
    return atomic_load(&t->done);
}

void task_finish(struct task *t, bool stop)
{
    if (!t)
        return;
    if (stop)
        atomic_store(&t->stop, true);
    pthread_join(t->thread, NULL);
    release(t);
}
