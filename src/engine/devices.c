#include "engine/devices.h"

#include "base/err.h"
#include "base/file.h"
#include "base/number.h"
#include "base/os.h"
#include "base/str.h"
#include "kernel/kernel.h"
#include "script/script.h"
#include "trial/helper_job.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DRIVER_SECONDS 30 // a server's GPUs may be asleep
#define PEAK_SECONDS   120.0

struct pool_options devices_pool(const struct gpu_info *device, const struct script *script)
{
    return (struct pool_options){.device = device->index,
                                 .workers = 1,
                                 .operation = script_operation(script),
                                 .reference = script_reference(script),
                                 .limits = &device->limits,
                                 .is_cpu = device->is_cpu,
                                 .trips_undeclared = !script_space(script)->resources};
}

double devices_patience_s(void)
{
    const char *text = getenv("TILEWALK_DRIVER_SECONDS");
    double seconds;
    return text && str_to_real(text, &seconds) && seconds > 0 && seconds < 1e6 ? seconds
                                                                               : DRIVER_SECONDS;
}

// Returns true for a pipe and the like. The loader would open it, and wait for a pipe forever.
static bool is_no_file(const char *manifest)
{
    return file_exists(manifest) && !file_is_regular(manifest);
}

// Lists the devices of the sound drivers, after a process that loaded all of them died. The others
// are left out here and, so that all number the devices alike, in every process that is started
// from now on.
static bool list_sound(const struct err *how, struct gpu_info **list, int *count, struct err *e)
{
    struct str sound = {0}; // "a:b"
    struct err again;
    int files, left_out = 0;
    char **file = gpu_driver_files(&files);
    for (int i = 0; i < files; i++) {
        struct gpu_info *own = NULL;
        int own_count;
        bool is_file = !is_no_file(file[i]);
        bool is_listed = is_file && helper_job_list(file[i], devices_patience_s(), &own, &own_count,
                                                    &again) != HELPER_JOB_LOST;
        if (!is_file)
            log_warning("driver %s is left out: it is not a regular file", file[i]);
        else if (!is_listed)
            log_warning("driver %s is left out: the process that listed its devices %s "
                        "(VK_LOADER_DRIVERS_DISABLE=%s leaves it out at once)",
                        file[i], again.text, path_name(file[i]));
        else
            str_printf(&sound, "%s%s", sound.length ? ":" : "", file[i]);
        left_out += !is_listed;
        free(own);
        free(file[i]);
    }
    free(file);
    bool ok = sound.length && left_out;
    if (ok) {
        gpu_use_drivers(str_text(&sound));
        how = &again;
        ok = helper_job_list("", devices_patience_s(), list, count, &again) == HELPER_JOB_DONE;
    }
    str_finish(&sound);
    return ok || err_set(e,
                         "no devices: the process that lists them %s (another version of the "
                         "driver may help, or TILEWALK_DRIVER_SECONDS where it is slow)",
                         how->text);
}

bool devices_list(struct gpu_info **list, int *count, struct err *e)
{
    struct err how = {.text = "would wait for a driver's manifest that is no regular file"};
    bool all = true;
    int files;
    gpu_prepare_environment();
    char **file = gpu_driver_files(&files);
    for (int i = 0; i < files; i++) {
        all &= !is_no_file(file[i]);
        free(file[i]);
    }
    free(file);
    if (!all)
        return list_sound(&how, list, count, e);
    switch (helper_job_list("", devices_patience_s(), list, count, &how)) {
    case HELPER_JOB_DONE: return true;
    case HELPER_JOB_LOST: return list_sound(&how, list, count, e);
    case HELPER_JOB_REFUSED: break;
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
        if (info->limits.matrix.api != MATRIX_KHR || !kernel_knows_matrix2())
            limits_remove_matrix2(&info->limits);
        for (enum element t = 0; t < ELEMENT_COUNT; t++)
            if (matrix_units_have(&info->limits.matrix, t) && !kernel_knows_float(t)) {
                matrix_units_remove(&info->limits.matrix, t);
                matrix_units_remove(&info->limits.flexible, t);
            }
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

bool devices_describe_compiler(struct str *name, struct str *missing, bool *complete, struct err *e)
{
    if (!kernel_describe_compiler(name, missing, e))
        return false;
    *complete = !strstr(str_text(missing), KERNEL_KHR_UNITS);
    return true;
}

bool devices_agree(const struct gpu_info *list, const struct gpu_cards *cards, struct err *e)
{
    double seconds[GPU_MOST_CARDS], share;
    int slowest;
    for (int i = 0; i < cards->count; i++) {
        struct clocks clocks;
        if (!helper_job_open(cards->index[i], false, devices_patience_s(), &clocks, e))
            return err_prefix(e, "device %d", cards->index[i]);
        seconds[i] = clocks.anchor_s;
    }
    // CPU devices share their cores with each other and all else: their times mean nothing.
    return list[cards->index[0]].is_cpu ||
           gpu_cards_agree(seconds, cards->count, &slowest, &share) ||
           err_set(e,
                   "device %d takes %.1f %% longer for the calibration kernel: these cards are not "
                   "one pool (are their clocks limited alike? --device %d,%d tunes on each)",
                   cards->index[slowest], 100 * share, cards->index[0], cards->index[1]);
}

bool devices_tell_power(const struct gpu_info *list, const struct gpu_cards *cards, struct err *e)
{
    for (int i = 0; i < cards->count; i++) {
        struct clocks clocks;
        if (!helper_job_open(cards->index[i], false, devices_patience_s(), &clocks, e))
            return err_prefix(e, "device %d", cards->index[i]);
        if (!clocks.tells_power)
            return err_set(e, "device %d (%s) does not tell its power%s%s", cards->index[i],
                           list[cards->index[i]].name, clocks.why[0] ? ": " : "", clocks.why);
    }
    return true;
}

// --- peaks ---

bool peak_measure(struct store *store, const struct gpu_info *i, struct roofline *out,
                  struct err *e)
{
    char id[33];
    struct str figures = {0};
    gpu_identity(i, id);
    if (!helper_job_peaks(i->index, PEAK_SECONDS, out, e))
        return err_prefix(e, "the roof of '%s' is not measured", i->name);
    roofline_add_json(out, &figures);
    const struct roof_record r = {id, i->name, i->driver, str_text(&figures), os_unix_time()};
    bool ok = store_put_roof(store, &r, e);
    str_finish(&figures);
    return ok;
}

bool peak_find(struct store *store, const struct gpu_info *i, struct roofline *out, bool *found,
               struct err *e)
{
    char id[33];
    struct roof_record r;
    struct arena a;
    arena_init(&a);
    gpu_identity(i, id);
    bool ok = store_get_roof(store, id, &a, &r, e);
    *found = ok && roofline_parse(r.figures, out);
    arena_finish(&a);
    return ok;
}

bool peak_judge_matrices(struct store *store, struct gpu_info *i, bool here, struct err *e)
{
    struct roofline peak;
    struct err why;
    bool found;
    if (i->limits.matrix.api == MATRIX_NONE)
        return true;
    if (!peak_find(store, i, &peak, &found, e))
        return false;
    if (!found && here && !i->is_cpu) {
        found = peak_measure(store, i, &peak, &why);
        if (!found)
            log_warning("%s", why.text);
    }
    if (found && !roofline_has_matrix_units(&peak)) {
        log_warning("'%s' multiplies matrices no faster than single numbers: its driver emulates "
                    "them, and they are not used",
                    i->name);
        i->limits.matrix = (struct matrix_units){.api = MATRIX_NONE};
        limits_remove_matrix2(&i->limits);
    }
    return true;
}
