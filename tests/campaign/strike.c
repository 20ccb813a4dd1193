#include "campaign.h"

#include "patience.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

uint64_t below(struct attempt *a, uint64_t n)
{
    return rng_below(&a->rng, n);
}

void rest_ms(uint64_t ms)
{
    nanosleep(
        &(struct timespec){.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000},
        NULL);
}

void note_context(const char *text)
{
    printf("# %s\n", text);
    fflush(stdout);
}

void note_command(const char *const *words)
{
    printf("$");
    for (; *words; words++)
        printf(" %s", *words);
    printf("\n");
    fflush(stdout);
}

void must_end_well(const struct result *r)
{
    if (r->code > 128 && r->code != 129 && r->code != 130 && r->code != 143)
        fail_msg("ended by signal %d: %.300s", r->code - 128, r->err);
}

// Control characters forge screens; so do, in a text, those of Unicode that do the same or turn the
// direction. (JSON is for programs, and may hold the latter.)
static const char *find_forgery(const char *text, bool is_json)
{
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        bool line = *at == '\n' || *at == '\t' || (*at == '\r' && at[1] == '\n');
        bool control = (*at < ' ' && !line) || *at == 127;
        bool c1 = at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0;
        bool turns = at[0] == 0xe2 && ((at[1] == 0x80 && at[2] >= 0xaa && at[2] <= 0xae) ||
                                       (at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9));
        if (control || (!is_json && (c1 || turns)))
            return (const char *)at;
    }
    return NULL;
}

static void must_be_clean(const char *what, const char *text, bool is_json)
{
    const char *at = find_forgery(text, is_json);
    if (at)
        fail_msg("%s holds bytes that a terminal obeys, from %02x on, after '%.*s'", what,
                 (unsigned char)*at, (int)(at - text < 60 ? at - text : 60),
                 at - text < 60 ? text : at - 60);
}

static bool has_word(const char *const *words, const char *wanted)
{
    while (*words && strcmp(*words, wanted) != 0)
        words++;
    return *words;
}

struct result strike_list(struct attempt *a, const char *const *words)
{
    note_command(words);
    struct result r = run_list(a->box, words);
    must_end_well(&r);
    must_be_clean("stderr", r.err, false);
    // GLSL and other programs' words are printed as they are: they are for files and pipes.
    if (!has_word(words, "--glsl") && !has_word(words, "--as"))
        must_be_clean("stdout", r.out, has_word(words, "--json"));
    return r;
}

void copy_file(const char *from, const char *to)
{
    struct err e;
    char *bytes;
    size_t length;
    if (!file_read(from, &bytes, &length, &e) || !file_write(to, bytes, length, &e))
        fail_msg("%s", e.text);
    free(bytes);
}

pid_t signal_below(struct attempt *a, pid_t root, int signal_number)
{
    pid_t found[256];
    int count = processes_below(root, found, 256);
    if (!count)
        return 0;
    pid_t pid = found[below(a, (uint64_t)count)];
    return kill(pid, signal_number) == 0 ? pid : 0;
}
