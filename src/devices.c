#include "devices.h"

#include "base/str.h"
#include "kernel/kernel.h"

#include <inttypes.h>
#include <stdlib.h>

static void choose_matrix(struct gpu_info *i)
{
    if (i->matrix_khr.count && kernel_knows_matrix(MATRIX_KHR))
        i->limits.matrix = i->matrix_khr;
    else if (i->matrix_nv.count && kernel_knows_matrix(MATRIX_NV))
        i->limits.matrix = i->matrix_nv;
}

bool devices_find(struct gpu_info **list, int *count, struct err *e)
{
    gpu_prepare_environment();
    if (!gpu_list(list, count, e))
        return false;
    bool ok = true;
    for (int i = 0; ok && i < *count; i++) {
        struct gpu_info *info = &(*list)[i];
        choose_matrix(info);
        ok = kernel_add_compiler(info->driver, sizeof info->driver, e);
    }
    if (ok)
        return true;
    free(*list);
    *list = NULL;
    *count = 0;
    return false;
}

bool devices_find_again(const struct session_record *r, const char *hint, struct gpu_info **list,
                        int *count, int *index, struct err *e)
{
    if (!devices_find(list, count, e))
        return false;
    for (*index = 0; *index < *count; ++*index) {
        char id[33];
        gpu_identity(&(*list)[*index], id);
        if (str_equal(id, r->device_id))
            return true;
    }
    free(*list);
    *list = NULL;
    *count = 0;
    return err_set(e,
                   "session %" PRId64 " was measured on %s (%s), which is not here as it was (%s)",
                   r->id, r->device, r->driver, hint);
}
