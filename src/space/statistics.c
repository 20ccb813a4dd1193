#include "space/statistics.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MOST_VALUE 0x1p40 // a larger number of bytes, registers or cycles is garbage

static const char *const kind_names[STATISTIC_KIND_COUNT] = {
    [STATISTIC_REGISTERS] = "registers", [STATISTIC_SPILLS] = "spills",
    [STATISTIC_SHARED] = "shared",       [STATISTIC_OCCUPANCY] = "occupancy",
    [STATISTIC_CODE_SIZE] = "code_size",
};

// The names of Mesa's drivers (RADV, NVK, ANV) and NVIDIA's; case does not matter. Fills are not
// counted beside spills; NVK and NVIDIA report only the memory of spilled values. RADV's spilled
// scalar registers do not count: they go to lanes of vector registers, not to memory.
static const struct {
    const char *name;
    enum statistic_kind kind;
} known[] = {
    {"VGPRs", STATISTIC_REGISTERS},
    {"Number of GPRs", STATISTIC_REGISTERS},
    {"GPRs", STATISTIC_REGISTERS},
    {"Register Count", STATISTIC_REGISTERS},
    {"GRF registers", STATISTIC_REGISTERS},
    {"Spilled VGPRs", STATISTIC_SPILLS},
    {"Spill Count", STATISTIC_SPILLS},
    {"SLM Size", STATISTIC_SPILLS},
    {"Local Memory Size", STATISTIC_SPILLS},
    {"LDS Size", STATISTIC_SHARED},
    {"Workgroup Memory Size", STATISTIC_SHARED},
    {"Shared Memory Size", STATISTIC_SHARED},
    {"Subgroups per SIMD", STATISTIC_OCCUPANCY},
    {"Max Warps/SM", STATISTIC_OCCUPANCY},
    {"Code Size", STATISTIC_CODE_SIZE},
    {"Binary Size", STATISTIC_CODE_SIZE},
    {"Instruction Count", STATISTIC_CODE_SIZE},
};

const char *statistic_kind_name(enum statistic_kind k)
{
    return kind_names[k];
}

// Returns the index of a name; -1: there is none.
static int named(const struct statistics *s, const char *name)
{
    int i = s->count;
    while (--i >= 0 && strcasecmp(s->item[i].name, name) != 0)
        continue;
    return i;
}

bool statistics_take(struct statistics *s, const char *name, double value)
{
    // A checksum differs for each kernel and is no property of it.
    size_t length = strlen(name), word = sizeof "hash" - 1;
    if (length >= word && strcasecmp(name + length - word, "hash") == 0)
        return true;
    // NVIDIA's driver (580.159.04) writes only the lower 32 bits of this number: the upper half is
    // 16 for every kernel.
    bool is_cut = strcasecmp(name, "Local Memory Size") == 0 && value < MOST_VALUE;
    value = is_cut ? fmod(value, 0x1p32) : value;
    if (!*name || strlen(name) >= STATISTICS_NAME_SIZE || !(value >= 0 && value <= MOST_VALUE))
        return false;
    int at = named(s, name);
    if (at >= 0) {
        bool is_least = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            is_least = is_least || (known[i].kind == STATISTIC_OCCUPANCY &&
                                    strcasecmp(known[i].name, name) == 0);
        double *there = &s->item[at].value;
        *there = is_least ? fmin(*there, value) : fmax(*there, value);
        return true;
    }
    if (s->count == STATISTICS_MOST)
        return false;
    struct compiler_number *added = &s->item[s->count++];
    snprintf(added->name, sizeof added->name, "%s", name);
    added->value = value;
    return true;
}

void statistics_merge(struct statistics *s, const struct statistics *more)
{
    for (int i = 0; i < more->count; i++)
        statistics_take(s, more->item[i].name, more->item[i].value);
}

// NVK reports both a size and a count of instructions: the first one in the order of `known`
// counts.
bool statistics_total(const struct statistics *s, enum statistic_kind k, double *out)
{
    int at = -1;
    for (size_t i = 0; at < 0 && i < sizeof known / sizeof *known; i++)
        at = known[i].kind == k ? named(s, known[i].name) : -1;
    *out = at < 0 ? 0 : s->item[at].value;
    return at >= 0;
}

bool statistics_find(const struct statistics *s, const char *name, double *out)
{
    int at = named(s, name);
    if (at >= 0)
        *out = s->item[at].value;
    for (int k = 0; at < 0 && k < STATISTIC_KIND_COUNT; k++)
        if (strcasecmp(kind_names[k], name) == 0)
            return statistics_total(s, (enum statistic_kind)k, out);
    return at >= 0;
}

void statistics_add_json(const struct statistics *s, struct str *out)
{
    struct json_writer w = json_begin(out);
    for (int i = 0; i < s->count; i++)
        json_add_real(&w, s->item[i].name, s->item[i].value);
    json_end_all(&w);
}
