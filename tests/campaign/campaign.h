// The campaign: attacks on the real program, many of each, until the time is up.
//
//     campaign --minutes 10                 a table at the end; exit 1 when anything was lost
//     campaign --seed S --only kills --try 7      that attempt again
//
// An attempt is a process of its own in a box (program.h) of its own, its working directory, and is
// made of the seed, the attack and its number alone. It is survived when nothing fails in it. What
// fails it: a program that is ended by a signal that nobody sent, one that has not ended a minute
// after it should have (what it stood in line for a processor is not counted: patience.h), a
// process that is left behind, and whatever the attack itself looks at: trials that are gone,
// another sequence, another session that suffers, a screen that is forged.
//
// An attack is one file attack_NAME.c with its `struct attack` as the last thing, and its place in
// the list of campaign.c.
#ifndef TILEWALK_TESTS_CAMPAIGN_H
#define TILEWALK_TESTS_CAMPAIGN_H

#include "sessions.h"

#include "base/rng.h"

struct attempt {
    struct box *box;
    struct rng rng;
    int64_t number;       // from 0
    const char *prepared; // path of what `prepare` left, for attempts to copy
    const char *files;    // folder tests/campaign/files
    bool device;          // there is one
};

struct attack {
    const char *name, *what; // `what`: for the table
    int share;               // of the time
    bool needs_device;
    int64_t (*count)(const struct attempt *a); // how many there are; NULL: without end
    // Once, in a box that goes when it returns: what takes long. May be NULL.
    void (*prepare)(struct attempt *a);
    void (*attempt)(struct attempt *a);
};

extern const struct attack attack_kills, attack_workers, attack_database, attack_files,
    attack_sandbox, attack_compilers, attack_drivers, attack_limits, attack_keys, attack_fleet,
    attack_imports, attack_people, attack_memory, attack_words, attack_pool, attack_rights,
    attack_long;

// --- what attacks share ---

uint64_t below(struct attempt *a, uint64_t n); // a random number, 0 .. n-1
#define PICK(a, list) ((list)[below((a), sizeof(list) / sizeof *(list))])
void rest_ms(uint64_t ms);

// Named when the attempt fails: what it is about, and the last command.
void note_context(const char *text);
void note_command(const char *const *words);

// Runs the program. Fails when a signal ends it, or when it prints what a terminal would obey.
struct result strike_list(struct attempt *a, const char *const *words);
#define STRIKE(a, ...) strike_list((a), (const char *const[]){__VA_ARGS__, NULL})
void must_end_well(const struct result *r); // by itself, whatever its exit code

// The program on a terminal of its own that gets these keys, a pause between them, and then is
// gone. Fails as `strike` does.
void strike_keys(struct attempt *a, const char *const *words, const char *keys, size_t count);

void copy_file(const char *from, const char *to);

// Sends a signal to one process below `root`, chosen at random, not to `root` itself. Returns
// which; 0: there is none.
pid_t signal_below(struct attempt *a, pid_t root, int signal_number);

#endif
