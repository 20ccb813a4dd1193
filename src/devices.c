#include "devices.h"

#include "kernel/kernel.h"

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
