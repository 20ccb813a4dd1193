// The values of a plan that files hold, in memory that a worker shares.
#include "base/os.h"
#include "network/plan.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGNMENT = 64 };

static uint64_t packed_bytes(const struct plan_value *v)
{
    uint64_t bytes = v->from ? (uint64_t)v->count * (uint64_t)element_bytes(v->element) : 0;
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

uint64_t plan_file_offset(const struct plan *p, int value)
{
    uint64_t offset = 0;
    for (int i = 0; i < value; i++)
        offset += packed_bytes(&p->value[i]);
    return offset;
}

static bool read_all(const struct plan *p, unsigned char *out, struct err *e)
{
    for (int i = 0; i < p->value_count; i++) {
        const struct plan_value *v = &p->value[i];
        if (v->from && !weights_read(v->from, out, e))
            return err_prefix(e, "%s: %s", v->name, v->from->path);
        out += packed_bytes(v);
    }
    return true;
}

bool plan_read_files(const struct plan *p, int *fd, struct err *e)
{
    size_t size = (size_t)plan_file_offset(p, p->value_count);
    *fd = -1;
    if (!size)
        return true;
    *fd = os_memfd("tilewalk-weights", size, e);
    if (*fd < 0)
        return false;
    void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    bool ok = bytes != MAP_FAILED ||
              err_set(e, "cannot map %zu bytes of shared memory: %s", size, strerror(errno));
    ok = ok && read_all(p, bytes, e);
    if (bytes != MAP_FAILED)
        munmap(bytes, size);
    if (!ok) {
        close(*fd);
        *fd = -1;
    }
    return ok;
}
