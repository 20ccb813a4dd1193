// Who may use the processor and the device now.
//
// Timing is exclusive: one worker holds the device's token; of several cards, over which workers
// are spread in turn, one each (not of CPU devices: they share their cores). While nobody wants a
// card its warmer, where it has one, may hold it, until somebody does. No worker starts
// meanwhile, as it makes buffers on the device and tries them; the pool gives the device to nobody
// while one does or is about to, so that it does not wait for ever for a moment when nothing is
// timed. On a CPU device a compiler would share the cores with what is timed, so there compiling
// and timing exclude each other, as readers and writers do, with at most one compile per core.
// Workers that wait for the device do not stop others from starting to compile (a core would idle):
// the waiting ones are then timed one after the other, in the order in which they came. Only when
// many compiles have begun since the first of them came (candidates that fail to compile free their
// worker at once), no more are let in.
//
// Pure bookkeeping: nothing here talks to anybody.
#ifndef TILEWALK_TRIAL_TOKEN_H
#define TILEWALK_TRIAL_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

enum hold { HOLD_NOTHING, HOLD_COMPILE, HOLD_WAITING, HOLD_DEVICE };

struct token {
    bool is_cpu;
    int workers, most_compiling, cards;
    int first_warmer;  // of `workers`; those from there on are warmers, one a card
    int late_compiles; // begun while somebody was waiting, since the device was last given
    int64_t next_place;
    enum hold *hold; // [workers]
    int64_t *place;  // [workers] in the queue, for those who wait
};

struct token_wish {
    int workers; // warmers are the last of them
    bool is_cpu;
    int cores, cards, warmers;
};
void token_init(struct token *t, const struct token_wish *w);
void token_finish(struct token *t);

bool token_may_start(const struct token *t, int worker); // opening a device uses it
bool token_may_compile(const struct token *t);
void token_compile(struct token *t, int worker); // token_may_compile holds
void token_wait(struct token *t, int worker);
// Gives the device to the worker that has waited longest of those that may have it now. Its index,
// or -1.
int token_grant(struct token *t);
void token_release(struct token *t, int worker); // whatever it held

// Whether the warmer may have its card, which then is free and wanted by nobody; and whether
// somebody waits for the card.
bool token_may_warm(const struct token *t, int warmer);
bool token_is_wanted(const struct token *t, int warmer);
void token_warm(struct token *t, int warmer); // token_may_warm holds

#endif
