// The device lock: which worker may use the processor and the device now.
//
// Timing is exclusive: one worker holds the device. Workers are spread over several cards in turn,
// and then one worker holds each card (not of CPU devices: they share their cores). While no worker
// waits for a card, its warmer may hold it, where it has one. No worker starts while its card is
// held, as it creates buffers there and tests them. The pool does not give the device while a
// worker starts or is about to, so that a starting worker does not wait for ever.
//
// On a CPU device a compiler would share the cores with the kernel that is timed, so there
// compiling and timing exclude each other, as readers and writers do, with at most one compile per
// core. Workers that wait for the device do not stop others from starting to compile (a core would
// idle); they are then timed one after the other, in the order in which they came. Only when many
// compiles have begun since the first of them came (candidates that fail to compile free their
// worker at once), no more are admitted.
//
// Pure bookkeeping, without processes or messages.
#ifndef TILEWALK_TRIAL_DEVICE_LOCK_H
#define TILEWALK_TRIAL_DEVICE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

enum lock_state { LOCK_NONE, LOCK_COMPILING, LOCK_WAITING, LOCK_DEVICE };

struct device_lock {
    bool is_cpu;
    int workers, most_compiling, cards;
    int first_warmer;  // of `workers`; the warmers are the last of them, one a card
    int late_compiles; // begun while a worker waited, since the device was last given
    int64_t next_place;
    enum lock_state *state; // [workers]
    int64_t *place;         // [workers] in the queue, where they wait
};

struct device_lock_options {
    int workers; // with the warmers
    bool is_cpu;
    int cores, cards, warmers;
};
void device_lock_init(struct device_lock *l, const struct device_lock_options *o);
void device_lock_finish(struct device_lock *l);

// Says if a worker on the same card as this one is in that state. No worker starts while one has
// the device: opening a device uses it.
bool device_lock_on_card(const struct device_lock *l, int worker, enum lock_state state);
bool device_lock_may_compile(const struct device_lock *l);
void device_lock_compile(struct device_lock *l, int worker); // device_lock_may_compile holds
void device_lock_wait(struct device_lock *l, int worker);
// Gives the device to the worker that has waited longest of those that may have it now. Returns its
// index, or -1.
int device_lock_grant(struct device_lock *l);
void device_lock_release(struct device_lock *l, int worker); // from any state

// Gives the warmer its card, if the card is free and no worker waits for it. False: not now.
bool device_lock_warm(struct device_lock *l, int warmer);

#endif
