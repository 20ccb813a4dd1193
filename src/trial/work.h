// One submitted request inside a source with workers, until all its candidates are settled.
//
// A worker that dies settles the candidate it was busy with; the others of a race are sent again,
// to another worker. Only unsettled candidates are sent, so that a request ends after at most as
// many workers as it has candidates (and one more when a worker died before it began).
#ifndef TILEWALK_TRIAL_WORK_H
#define TILEWALK_TRIAL_WORK_H

#include "trial/message.h"

struct work {
    struct trial_request request;
    struct trial_result result;
    bool settled[TRIAL_MAX_RACERS];
    int64_t number; // counted from 1 over the session
    int attempt;    // workers that died before they began
    int losses;     // machines that were lost while they had it (remote.h)
    int pick_count; // candidates that were sent last, as indices into the request
    int pick[TRIAL_MAX_RACERS];
};

struct work *work_create(struct trial_request *r, int64_t number); // moves the jobs out of `r`
void work_destroy(struct work *w);

void work_pick(struct work *w); // picks the unsettled candidates
// Picks them, and creates a MESSAGE_TRIAL. `kept` belongs to the only candidate, or is NULL.
char *work_message(struct work *w, const struct kept *kept);
bool work_is_done(const struct work *w);
// Settles a candidate; `picked` counts among those that were sent last.
void work_settle(struct work *w, int picked, enum outcome o, enum trial_phase phase,
                 const char *reason);
void work_settle_rest(struct work *w, enum outcome o, enum trial_phase phase, const char *reason);
bool work_merge(struct work *w, const struct message *result); // false: implausible

// A queue.
struct work_list {
    int count, capacity;
    struct work **item;
};

void work_list_append(struct work_list *l, struct work *w);
void work_list_insert(struct work_list *l, struct work *w); // by its number
struct work *work_list_take(struct work_list *l, int i);
struct work *work_list_take_first(struct work_list *l); // NULL when empty
void work_list_finish(struct work_list *l);             // destroys its items

// The binaries of kernels that were only compiled, until one of them is measured.
//
//     kept_add(&list, &job, &made, seconds);
//     const struct kept *k = kept_find(&list, &job);
//     kept_finish(&list);

#define KEPT_MOST_BYTES ((size_t)64 << 20) // then the oldest are forgotten

struct kept_list { // empty: zeros
    struct kept *item;
    int count, capacity;
    size_t bytes;
};

// Takes the content of `made`.
void kept_add(struct kept_list *l, const struct job *j, struct gpu_kept *made, double seconds);
const struct kept *kept_find(const struct kept_list *l, const struct job *j); // NULL: not there
void kept_finish(struct kept_list *l);

#endif
