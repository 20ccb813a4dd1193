// What sources without a device share: the result is known when it is asked for, and arrives when
// it is due. For the sources of this folder.
//
//     struct mine { struct flying flying; ... };     first: a source is a struct mine
//     flying_init(&s->flying, &my_kind, workers);
//     flying_finish(source);                         in destroy
//
// The functions that take a struct source are what a source_kind wants; what is submitted becomes
// what its `answer` says.
//
// flying_create makes one that knows nothing itself: whoever has it adds the results.
#ifndef TILEWALK_TRIAL_FLYING_H
#define TILEWALK_TRIAL_FLYING_H

#include "trial/source.h"

struct flight;

struct flying {
    struct source base;
    int workers, count;
    struct flight *flight; // [workers], in the order submitted
};

void flying_init(struct flying *f, const struct source_kind *kind, int workers);
void flying_finish(struct source *s);
struct source *flying_create(int workers);
// There must be room. `worker` of the result is set. 0 seconds: it is due at once.
void flying_add(struct source *s, const struct trial_result *result, double seconds);

void flying_submit(struct source *s, struct trial_request *r);
int flying_room(const struct source *s);
int flying_fds(const struct source *s, struct pollfd *out, int most);
int flying_wait_ms(const struct source *s);
bool flying_step(struct source *s, struct err *e);
bool flying_collect(struct source *s, struct trial_result *out); // the first that is due

// Where a trial with that outcome fails; PHASE_NONE where it does not.
enum trial_phase flying_phase(enum outcome o);

#endif
