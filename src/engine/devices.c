#include "engine/devices.h"

#include "base/file.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/str.h"
#include "kernel/kernel.h"
#include "trial/errand.h"

#include <inttypes.h>
#include <stdlib.h>

#define DRIVER_SECONDS 30 // a server's GPUs may be asleep

double devices_patience_s(void)
{
    const char *text = getenv("TILEWALK_DRIVER_SECONDS");
    double seconds;
    return text && str_to_real(text, &seconds) && seconds > 0 && seconds < 1e6 ? seconds
                                                                               : DRIVER_SECONDS;
}

// The loader reads whatever lies there, and would wait for a pipe for ever.
static bool is_no_file(const char *manifest)
{
    return file_exists(manifest) && !file_is_regular(manifest);
}

// Whether the devices of this driver alone can be listed.
static bool is_sound(const char *manifest)
{
    if (is_no_file(manifest)) {
        log_warning("driver %s is left out: it is not a regular file", manifest);
        return false;
    }
    struct gpu_info *list;
    struct err how;
    int count;
    bool lost = errand_list(manifest, devices_patience_s(), &list, &count, &how) == ERRAND_LOST;
    if (lost)
        log_warning("driver %s is left out: the process that listed its devices %s "
                    "(VK_LOADER_DRIVERS_DISABLE=%s leaves it out at once)",
                    manifest, how.text, path_name(manifest));
    free(list);
    return !lost;
}

// "a:b" of those that are sound; heap. `*left_out`: how many are not.
static char *sound_drivers(int *left_out)
{
    struct str sound = {0};
    int count;
    char **file = gpu_driver_files(&count);
    *left_out = 0;
    for (int i = 0; i < count; i++) {
        if (is_sound(file[i]))
            str_printf(&sound, "%s%s", sound.length ? ":" : "", file[i]);
        else
            ++*left_out;
        free(file[i]);
    }
    free(file);
    str_add(&sound, "");
    return str_take(&sound);
}

// All together ended the process: without those that do so alone, here and, that all number the
// devices alike, in every process that is started from now on.
static bool list_sound(const struct err *how, struct gpu_info **list, int *count, struct err *e)
{
    int left_out;
    struct err again;
    char *sound = sound_drivers(&left_out);
    bool ok = sound[0] && left_out;
    if (ok) {
        gpu_use_drivers(sound);
        how = &again;
        ok = errand_list("", devices_patience_s(), list, count, &again) == ERRAND_DONE;
    }
    free(sound);
    return ok || err_set(e,
                         "no devices: the process that lists them %s (another version of the "
                         "driver may help, or TILEWALK_DRIVER_SECONDS where it is slow)",
                         how->text);
}

static bool all_are_files(void)
{
    int count;
    bool all = true;
    char **file = gpu_driver_files(&count);
    for (int i = 0; i < count; i++) {
        all &= !is_no_file(file[i]);
        free(file[i]);
    }
    free(file);
    return all;
}

bool devices_list(struct gpu_info **list, int *count, struct err *e)
{
    struct err how = {.text = "would wait for a driver's manifest that is no regular file"};
    gpu_prepare_environment();
    if (!all_are_files())
        return list_sound(&how, list, count, e);
    switch (errand_list("", devices_patience_s(), list, count, &how)) {
    case ERRAND_DONE: return true;
    case ERRAND_LOST: return list_sound(&how, list, count, e);
    case ERRAND_REFUSED: break;
    }
    if (e)
        *e = how;
    return false;
}

bool devices_find(struct gpu_info **list, int *count, struct err *e)
{
    if (!devices_list(list, count, e))
        return false;
    bool ok = true;
    for (int i = 0; ok && i < *count; i++) {
        struct gpu_info *info = &(*list)[i];
        if (info->matrix_khr.count && kernel_knows_matrix(MATRIX_KHR))
            info->limits.matrix = info->matrix_khr;
        else if (info->matrix_nv.count && kernel_knows_matrix(MATRIX_NV))
            info->limits.matrix = info->matrix_nv;
        ok = kernel_add_compiler(info->driver, sizeof info->driver, e);
    }
    if (ok)
        return true;
    free(*list);
    *list = NULL;
    *count = 0;
    return false;
}

bool devices_match(const struct session_record *r, const char *hint, const struct gpu_info *list,
                   int count, struct gpu_cards *cards, struct err *e)
{
    int wanted = int_clamp(r->cards, 1, GPU_MOST_CARDS);
    *cards = (struct gpu_cards){.count = 0};
    for (int i = 0; i < count && cards->count < wanted; i++)
        if (gpu_is(&list[i], r->device_id))
            cards->index[cards->count++] = i;
    return cards->count > 0 ||
           err_set(e,
                   "session %" PRId64 " was measured on %s (%s), which is not here as it was (%s)",
                   r->id, r->device, r->driver, hint);
}

bool devices_find_again(const struct session_record *r, const char *hint, struct gpu_info **list,
                        int *count, struct gpu_cards *cards, struct err *e)
{
    if (!devices_find(list, count, e))
        return false;
    if (devices_match(r, hint, *list, *count, cards, e))
        return true;
    free(*list);
    *list = NULL;
    *count = 0;
    return false;
}

bool devices_agree(const struct gpu_info *list, const struct gpu_cards *cards, struct err *e)
{
    double seconds[GPU_MOST_CARDS], share;
    int slowest;
    for (int i = 0; i < cards->count; i++) {
        struct clocks clocks;
        if (!errand_open(cards->index[i], false, devices_patience_s(), &clocks, e))
            return err_prefix(e, "device %d", cards->index[i]);
        seconds[i] = clocks.anchor_s;
    }
    // CPU devices share their cores with each other and all else: their times say nothing.
    return list[cards->index[0]].is_cpu ||
           gpu_cards_agree(seconds, cards->count, &slowest, &share) ||
           err_set(e,
                   "device %d takes %.1f %% longer for the calibration kernel: these cards are not "
                   "one pool (are their clocks limited alike? --device %d,%d tunes on each)",
                   cards->index[slowest], 100 * share, cards->index[0], cards->index[1]);
}
