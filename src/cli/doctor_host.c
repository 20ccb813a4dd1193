// NVIDIA: the installation guides of its driver and of its container toolkit. Mesa: amdgpu, i915
// and xe are reached through /dev/dri.
#include "cli/doctor_host.h"

#include "base/file.h"
#include "base/mem.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VENDOR_AMD = 0x1002, VENDOR_NVIDIA = 0x10de, VENDOR_INTEL = 0x8086 };

#define CAPABILITIES                                                                               \
    "in containers, give it the capability graphics: docker run --gpus all -e "                    \
    "NVIDIA_DRIVER_CAPABILITIES=compute,utility,graphics; else apt install nvidia-vulkan-icd"

struct troubles {
    struct host_trouble *list;
    int count;
};

static void add(struct troubles *t, const char *found, const char *hint)
{
    if (t->count == HOST_MOST_TROUBLES)
        return;
    snprintf(t->list[t->count].found, sizeof t->list->found, "%s", found);
    t->list[t->count++].hint = hint;
}

// A path of the system, which may be a pattern; heap.
static char *first_of(const char *pattern)
{
    const char *root = getenv("TILEWALK_ROOT");
    char *path = mem_printf("%s%s", root ? root : "", pattern), *first = NULL;
    glob_t found;
    if (glob(path, 0, NULL, &found) == 0) {
        first = mem_strdup(found.gl_pathv[0]);
        globfree(&found);
    }
    free(path);
    return first;
}

static bool is_there(const char *pattern)
{
    char *path = first_of(pattern);
    free(path);
    return path != NULL;
}

static bool has_library(const char *name)
{
    static const char *const folders[] = {
        "/usr/lib/*-linux-gnu*",  "/lib/*-linux-gnu*",     "/usr/lib64", "/usr/lib",
        "/usr/local/nvidia/lib*", "/run/opengl-driver/lib"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char *pattern = path_join(folders[i], name);
        bool found = is_there(pattern);
        free(pattern);
        if (found)
            return true;
    }
    return false;
}

static bool has_device(const struct gpu_info *list, int count, uint32_t vendor)
{
    for (int i = 0; i < count; i++)
        if (list[i].vendor_id == vendor)
            return true;
    return false;
}

// Where the loader looks, by the variables too.
static bool has_nvidia_manifest(void)
{
    int count;
    char **file = gpu_driver_files(&count);
    bool found = is_there("/usr/share/vulkan/icd.d/nvidia*.json") ||
                 is_there("/etc/vulkan/icd.d/nvidia*.json");
    for (int i = 0; i < count; i++) {
        found = found || (!getenv("TILEWALK_ROOT") && strstr(file[i], "nvidia"));
        free(file[i]);
    }
    free(file);
    return found;
}

static void look_at_nvidia(struct troubles *t)
{
    if (!is_there("/dev/nvidiactl") && !is_there("/dev/nvidia[0-9]*"))
        add(t, "an NVIDIA card's kernel module is loaded, but /dev/nvidia* is missing",
            "in containers: docker run --gpus all; else nvidia-smi as root makes the files");
    if (!has_nvidia_manifest())
        add(t, "no Vulkan manifest of NVIDIA's driver (nvidia_icd.json)", CAPABILITIES);
    if (!has_library("libGLX_nvidia.so.*") && !has_library("libEGL_nvidia.so.*"))
        add(t, "NVIDIA's Vulkan driver is not there (libGLX_nvidia.so.0, libEGL_nvidia.so.0)",
            CAPABILITIES);
    if (!has_library("libXext.so.6*"))
        add(t, "libXext.so.6 is not there: NVIDIA's driver loads it also without a display",
            "apt install libxext6");
    if (!has_library("libEGL.so.1*"))
        add(t, "libEGL.so.1 is not there: NVIDIA's driver loads it where there is no display",
            "apt install libegl1");
    if (!is_there("/usr/share/glvnd/egl_vendor.d/*nvidia*.json") &&
        !is_there("/etc/glvnd/egl_vendor.d/*nvidia*.json"))
        add(t,
            "no EGL manifest of NVIDIA's driver (egl_vendor.d/10_nvidia.json), which it needs "
            "without a display",
            "apt install libnvidia-egl-gbm1 nvidia-egl-common, or mount the host's "
            "/usr/share/glvnd/egl_vendor.d");
    if (!has_library("libnvidia-glvkspirv.so.*"))
        add(t, "libnvidia-glvkspirv is not there: NVIDIA's driver compiles no shader without it",
            "apt install libnvidia-glvkspirv, of the driver's own version; in containers the "
            "capability graphics brings it");
}

// Cards by the vendor that the kernel tells.
static bool has_card(uint32_t vendor)
{
    bool found = false;
    for (int i = 0; i < 8 && !found; i++) {
        char pattern[64], *text, *path;
        snprintf(pattern, sizeof pattern, "/sys/class/drm/card%d/device/vendor", i);
        path = first_of(pattern);
        if (path && file_read(path, &text, NULL, NULL)) {
            found = strtoul(text, NULL, 16) == vendor;
            free(text);
        }
        free(path);
    }
    return found;
}

static void look_at_mesa(struct troubles *t, const char *vendor)
{
    char found[160], *node = first_of("/dev/dri/renderD*");
    if (!node) {
        snprintf(found, sizeof found, "there is a card of %s, but no /dev/dri/renderD*", vendor);
        add(t, found, "in containers: docker run --device /dev/dri");
    } else if (access(node, R_OK | W_OK) != 0) {
        snprintf(found, sizeof found, "%s cannot be opened by this user", node);
        add(t, found,
            "sudo usermod -aG render $USER, and log in again; in containers: docker run "
            "--device /dev/dri --group-add render");
    } else {
        snprintf(found, sizeof found, "there is a card of %s, and no driver shows it", vendor);
        add(t, found, "apt install mesa-vulkan-drivers");
    }
    free(node);
}

int host_troubles(const struct gpu_info *list, int count,
                  struct host_trouble out[HOST_MOST_TROUBLES])
{
    struct troubles t = {out, 0};
    bool nvidia = is_there("/proc/driver/nvidia/version") || is_there("/dev/nvidiactl");
    if (nvidia && !has_device(list, count, VENDOR_NVIDIA))
        look_at_nvidia(&t);
    if (has_card(VENDOR_AMD) && !has_device(list, count, VENDOR_AMD))
        look_at_mesa(&t, "AMD");
    if (has_card(VENDOR_INTEL) && !has_device(list, count, VENDOR_INTEL))
        look_at_mesa(&t, "Intel");
    return t.count;
}
