// Functions on devices that open none: environment, choice by name, identity, robust statistic.
#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/os.h"
#include "base/str.h"
#include "gpu/gpu.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_INDEX 99 // larger numbers are names: "4090"

// One thread: with more, a kernel's time on a shared machine is bimodal. No disk caches: compile
// times and the containment of a driver's compiler must not depend on earlier runs. No implicit
// layers: overlays, recorders, switches between cards (loaders before 1.3.234 read only the
// variable of each layer).
void gpu_prepare_environment(void)
{
    setenv("LP_NUM_THREADS", "1", 0);
    setenv("MESA_SHADER_CACHE_DISABLE", "true", 0);
    setenv("__GL_SHADER_DISK_CACHE", "0", 0);
    setenv("VK_LOADER_LAYERS_DISABLE", "~implicit~", 0);
    setenv("NODEVICE_SELECT", "1", 0);
    setenv("DISABLE_LAYER_NV_OPTIMUS_1", "1", 0);
    setenv("DISABLE_LAYER_AMD_SWITCHABLE_GRAPHICS_1", "1", 0);
}

static bool contains(const char *text, const char *part)
{
    for (; *text; text++)
        if (strncasecmp(text, part, strlen(part)) == 0)
            return true;
    return false;
}

static bool is_name(const char *name, const char *wanted)
{
    return strcasecmp(name, wanted) == 0;
}

static bool fail_choice(const struct gpu_info *list, int count, const char *wanted, int matches,
                        struct err *e)
{
    const char *part = matches ? wanted : "";
    struct str s = {0};
    for (int i = 0; i < count; i++)
        if (contains(list[i].name, part))
            str_printf(&s, "%s%d '%s'", s.length ? ", " : "", i, list[i].name);
    char *names = str_take(&s);
    if (matches)
        err_usage(e, "'%s' names %d devices: %s (use the number)", wanted, matches, names);
    else
        err_usage(e, "no device '%s' (there is: %s)", wanted, names);
    free(names);
    return false;
}

// Drivers that are out of memory or descriptors report no error, only no device.
static bool fail_no_device(struct err *e)
{
    char limits[OS_LIMITS_SIZE];
    if (*os_low_limits(limits))
        return err_set(e, "no Vulkan device found, perhaps because %s", limits);
    return err_set(e, "no Vulkan device found (install your GPU's driver, or the package "
                      "mesa-vulkan-drivers, which brings a CPU device)");
}

bool gpu_can_run(const struct gpu_info *i, struct err *e)
{
    return i->runs || err_set(e,
                              "device %d '%s' compiles kernels but runs none: its driver works "
                              "without the hardware (tilewalk check PRESET --compile N --device %d "
                              "is what can be done with it)",
                              i->index, i->name, i->index);
}

// --- devices of the environment ---

static bool is_uuid(const struct gpu_info *i, const char *wanted)
{
    char digits[33];
    size_t n = 0;
    for (const char *at = wanted + (str_starts(wanted, "GPU-") ? 4 : 0); *at; at++)
        if (*at != '-') {
            if (n == 32 || !isxdigit((unsigned char)*at))
                return false;
            digits[n++] = *at;
        }
    return n == 32 && strncasecmp(i->device_uuid, digits, n) == 0;
}

static bool is_at(const struct gpu_info *i, const char *wanted)
{
    bool is_short = str_starts(i->pci, "0000:") && strcasecmp(i->pci + 5, wanted) == 0;
    return i->pci[0] && (is_short || strcasecmp(i->pci, wanted) == 0);
}

// Returns whether a list such as "0,GPU-8f..." has the device, whose number among its like is `n`.
static bool is_listed(const struct gpu_info *i, int n, const char *list)
{
    char *rest, *text = mem_strdup(list);
    bool found = false;
    int64_t number;
    for (char *word = strtok_r(text, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest))
        found |= str_to_int(word, 0, MAX_INDEX, &number) ? number == n : is_uuid(i, word);
    free(text);
    return found;
}

void gpu_follow_environment(struct gpu_info *list, int count)
{
    enum { NVIDIA = 0x10de };
    const char *cuda = getenv("CUDA_VISIBLE_DEVICES"), *slurm = getenv("SLURM_JOB_GPUS");
    const char *names = cuda ? cuda : slurm;
    bool fits = cuda != NULL;
    for (int pass = 0; names && pass < 2; pass++)
        for (int i = 0; i < count; i++) {
            bool is_governed = cuda ? list[i].vendor_id == NVIDIA : !list[i].is_cpu;
            int n = 0;
            for (int k = 0; k < count; k++)
                n += (cuda ? list[k].vendor_id == NVIDIA : !list[k].is_cpu) &&
                     strcmp(list[k].pci, list[i].pci) < 0;
            bool is_own = !is_governed || is_listed(&list[i], n, names);
            fits |= is_governed && is_own;
            if (pass == 1)
                list[i].is_set_aside = fits && !is_own;
        }
}

static bool choose_best(const struct gpu_info *list, int count, int *index, struct err *e)
{
    for (*index = 0; *index < count; ++*index)
        if (list[*index].runs && !list[*index].is_set_aside)
            return true;
    *index = 0;
    return gpu_can_run(&list[0], e);
}

bool gpu_choose(const struct gpu_info *list, int count, const char *wanted, int *index,
                struct err *e)
{
    if (count == 0)
        return fail_no_device(e);
    int64_t number;
    *index = 0;
    if (!wanted || str_equal(wanted, "best"))
        return choose_best(list, count, index, e);
    if (str_to_int(wanted, 0, MAX_INDEX, &number)) {
        *index = (int)number;
        return number < count || fail_choice(list, count, wanted, 0, e);
    }
    for (*index = 0; *index < count; ++*index)
        if (is_at(&list[*index], wanted) || is_uuid(&list[*index], wanted))
            return true;
    *index = 0;
    int matches = 0, exact = 0, exact_index = 0;
    for (int i = 0; i < count && wanted[0]; i++) {
        if (is_name(list[i].name, wanted)) {
            exact++;
            exact_index = i;
        }
        if (contains(list[i].name, wanted)) {
            matches++;
            *index = i;
        }
    }
    if (exact == 1)
        *index = exact_index;
    return exact == 1 || matches == 1 || fail_choice(list, count, wanted, matches, e);
}

// Names may contain commas ("llvmpipe (LLVM 15.0.6, 256 bits)"): a list has only indices.
bool gpu_is_several(const char *wanted)
{
    return wanted && (str_equal(wanted, "all") || (strchr(wanted, ',') && wanted[0] != ',' &&
                                                   !wanted[strspn(wanted, "0123456789,")]));
}

// `wanted` is "all" or a list such as "0,2".
bool gpu_choose_several(const struct gpu_info *list, int count, const char *wanted, int *index,
                        int *chosen, struct err *e)
{
    *chosen = 0;
    if (count == 0)
        return fail_no_device(e);
    int best;
    bool all = str_equal(wanted, "all");
    if (all && !choose_best(list, count, &best, e))
        return false;
    bool *marked = mem_zero((size_t)count, sizeof *marked);
    bool ok = true;
    char *rest, *text = mem_strdup(all ? "" : wanted);
    for (char *word = strtok_r(text, ",", &rest); word && ok; word = strtok_r(NULL, ",", &rest)) {
        int64_t number;
        ok = (str_to_int(word, 0, MAX_INDEX, &number) && number < count) ||
             fail_choice(list, count, word, 0, e);
        if (ok)
            marked[number] = true;
    }
    for (int i = 0; ok && i < count; i++)
        if (all ? list[i].runs && !list[i].is_set_aside : marked[i])
            index[(*chosen)++] = i;
    free(text);
    free(marked);
    return ok;
}

static void hash_identity(const struct gpu_info *i, bool of_card, char out[33])
{
    struct str s = {0};
    str_printf(&s, "%s\n%s\n%s\n", i->name, i->driver, i->driver_hash);
    str_printf(&s, "%" PRIx32 " %" PRIx32 " %" PRIx32 " %" PRIx32 "\n", i->vendor_id, i->device_id,
               i->driver_version, i->api_version);
    if (of_card)
        str_printf(&s, "%s %s ", i->device_uuid, i->driver_uuid);
    str_printf(&s, "%d\n", i->threads);
    hash_hex(str_text(&s), s.length, out);
    str_finish(&s);
}

void gpu_identity(const struct gpu_info *i, char out[33])
{
    hash_identity(i, false, out);
}

bool gpu_is(const struct gpu_info *i, const char *identity)
{
    char now[33], before[33];
    hash_identity(i, false, now);
    hash_identity(i, true, before);
    return str_equal(identity, now) || str_equal(identity, before);
}

static bool add_card(const struct gpu_info *list, int index, struct gpu_cards *out, struct err *e)
{
    for (int i = 0; i < out->count; i++)
        if (out->index[i] == index)
            return true;
    if (out->count == GPU_MOST_CARDS)
        return err_usage(e, "more than %d cards", GPU_MOST_CARDS);
    const struct gpu_info *first = &list[out->count ? out->index[0] : index];
    char id[33];
    gpu_identity(first, id);
    if (!gpu_is(&list[index], id))
        return err_usage(e,
                         "devices %d '%s' and %d '%s' differ in model or driver: they are not one "
                         "pool (--device %d,%d tunes on each)",
                         first->index, first->name, index, list[index].name, first->index, index);
    out->index[out->count++] = index;
    return true;
}

// Adds the cards whose name fits. False: fewer than two do, or they differ.
static bool add_named(const struct gpu_info *list, int count, const char *wanted,
                      bool (*fits)(const char *name, const char *wanted), struct gpu_cards *out)
{
    out->count = 0;
    for (int i = 0; i < count; i++)
        if (fits(list[i].name, wanted) && !add_card(list, i, out, NULL))
            return false;
    return out->count > 1;
}

bool gpu_choose_cards(const struct gpu_info *list, int count, const char *wanted,
                      struct gpu_cards *out, struct err *e)
{
    int64_t number;
    *out = (struct gpu_cards){.count = 0};
    if (wanted && strchr(wanted, '+') && isdigit((unsigned char)wanted[0]) &&
        !wanted[strspn(wanted, "0123456789+")]) {
        // It is a sum such as "0+2".
        bool ok = true;
        char *rest, *text = mem_strdup(wanted);
        for (char *word = strtok_r(text, "+", &rest); word && ok; word = strtok_r(NULL, "+", &rest))
            ok = ((str_to_int(word, 0, MAX_INDEX, &number) && number < count) ||
                  fail_choice(list, count, word, 0, e)) &&
                 add_card(list, (int)number, out, e);
        free(text);
        return ok;
    }
    // A whole name wins over a part.
    if (wanted && *wanted && !str_to_int(wanted, 0, MAX_INDEX, &number) &&
        (add_named(list, count, wanted, is_name, out) ||
         (out->count == 0 && add_named(list, count, wanted, contains, out))))
        return true;
    out->count = 1;
    return gpu_choose(list, count, wanted, &out->index[0], e);
}

#define ALIKE 0.05 // clocks that are not locked differ less

bool gpu_cards_agree(const double *seconds, int count, int *slowest, double *share)
{
    double fastest_s = seconds[0];
    *slowest = 0;
    for (int i = 1; i < count; i++) {
        fastest_s = fmin(fastest_s, seconds[i]);
        *slowest = seconds[i] > seconds[*slowest] ? i : *slowest;
    }
    *share = fastest_s > 0 ? seconds[*slowest] / fastest_s - 1 : 0;
    return *share <= ALIKE;
}

double gpu_robust_seconds(const struct gpu_info *i, const double *seconds, int count)
{
    assert(count > 0);
    double *sorted = mem_alloc((size_t)count * sizeof *sorted);
    memcpy(sorted, seconds, (size_t)count * sizeof *sorted);
    median_sort(sorted, count);
    double robust = i->is_cpu ? sorted[0] : median_sorted(sorted, count);
    free(sorted);
    return robust;
}
