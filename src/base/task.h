// One piece of work on a thread of its own, while whoever started it sleeps in poll() or does other
// things.
//
//     struct task *t = task_start(fit, model);
//     if (!t)
//         fit(model, &never);         no thread: the caller does it itself
//     ... poll(task_fd(t)) ... until task_is_done(t)
//     task_finish(t, false);
//
// What the work wrote may be read once task_is_done has said yes, or after task_finish; that the
// descriptor is readable does not order memory. The thread takes no signals: handlers run on the
// program's own threads. All calls from one thread.
#ifndef TILEWALK_BASE_TASK_H
#define TILEWALK_BASE_TASK_H

#include <stdatomic.h>
#include <stdbool.h>

struct task;

// `work` should look at `stop` now and then and return early once it is set. `context` stays the
// caller's and outlives the task. NULL: no thread or no descriptor could be had.
struct task *task_start(void (*work)(void *context, const atomic_bool *stop), void *context);
int task_fd(const struct task *t);           // readable once it is done; the task's own
bool task_is_done(const struct task *t);     // never waits
void task_finish(struct task *t, bool stop); // waits, having asked it to stop; frees. NULL is fine

#endif
