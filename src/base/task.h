// A function that runs on a thread of its own, while the thread that started it waits in poll() or
// does other things.
//
//     struct task *t = task_start(fit, model);
//     if (!t)
//         fit(model, &never);         no thread: the caller does it itself
//     ... poll(task_fd(t)) ... until task_is_done(t)
//     task_finish(t, false);
//
// The results of `work` may be read once task_is_done is true, or after task_finish; a readable
// descriptor does not order memory. The thread takes no signals: handlers run on the program's own
// threads. All calls are made from one thread.
#ifndef TILEWALK_BASE_TASK_H
#define TILEWALK_BASE_TASK_H

#include <stdatomic.h>
#include <stdbool.h>

struct task;

// `work` should check `stop` regularly and return early once it is set. `context` stays the
// caller's and outlives the task. NULL: no thread or descriptor was available.
struct task *task_start(void (*work)(void *context, const atomic_bool *stop), void *context);
int task_fd(const struct task *t);           // readable once it is done; owned by the task
bool task_is_done(const struct task *t);     // never waits
void task_finish(struct task *t, bool stop); // sets `stop` if wanted, waits, frees; NULL is fine

#endif
