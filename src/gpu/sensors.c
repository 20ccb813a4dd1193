// NVML: its API reference. sysfs: Documentation/gpu/amdgpu/thermal.rst, i915 and xe's sysfs ABI,
// struct gpu_metrics_v1_3 and v2_2 of the kernel's kgd_pp_interface.h.
#include "gpu/sensors.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"

#include <dlfcn.h>
#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VENDOR_NVIDIA = 0x10de, NVML_OK = 0, POLICIES = 2 };

struct violation { // of a policy, since the driver was loaded
    unsigned long long at_us, ns;
};

struct nvml {
    void *library, *device;
    int (*init)(void), (*shutdown)(void);
    int (*by_bus)(const char *bus, void **device), (*by_uuid)(const char *uuid, void **device);
    int (*clock)(void *device, int kind, unsigned *mhz);
    int (*most_clock)(void *device, int kind, unsigned *mhz);
    int (*temperature)(void *device, int kind, unsigned *celsius);
    int (*power)(void *device, unsigned *milliwatts);
    int (*reasons)(void *device, unsigned long long *bits);
    int (*violation)(void *device, int policy, struct violation *out);
    unsigned long long held_ns[POLICIES];
};

struct sensors {
    char folder[256]; // of the device in sysfs; "": NVML tells
    struct nvml nvml;
    bool complained;
};

static const char *value_of(const char *name, const char *standard)
{
    const char *value = getenv(name);
    return value && *value ? value : standard;
}

// --- numbers ---

static double most_of(const char *name)
{
    return strstr(name, "mhz") ? 20000 : str_equal(name, "celsius") ? 200 : 5000;
}

static bool has(const struct statistics *s, const char *name)
{
    double unused;
    return statistics_find(s, name, &unused);
}

static void take(struct sensors *s, const char *name, double value, struct statistics *out)
{
    if (value > 0 && value <= most_of(name)) {
        statistics_take(out, name, value);
    } else if (value != 0 && !s->complained) {
        log_warning("clocks: %s %g of %s is not believed: no device has it", name, value,
                    s->folder[0] ? s->folder : "NVML");
        s->complained = true;
    }
}

static void take_reason(const char *reason, struct statistics *out)
{
    char name[STATISTICS_NAME_SIZE];
    snprintf(name, sizeof name, SENSORS_THROTTLE "%s", reason);
    statistics_take(out, name, 1);
}

// Bits from `first` to `last`.
static void take_bits(uint64_t bits, int first, int last, const char *reason,
                      struct statistics *out)
{
    if (bits >> first & (((uint64_t)1 << (last - first + 1)) - 1))
        take_reason(reason, out);
}

// --- NVML ---

static bool find(struct nvml *n, const char *name, void *function)
{
    void *at = dlsym(n->library, name);
    memcpy(function, &at, sizeof at); // C knows no other way from an object to a function
    return at != NULL;
}

static bool find_functions(struct nvml *n)
{
    find(n, "nvmlShutdown", &n->shutdown);
    find(n, "nvmlDeviceGetHandleByUUID", &n->by_uuid);
    find(n, "nvmlDeviceGetMaxClockInfo", &n->most_clock);
    find(n, "nvmlDeviceGetTemperature", &n->temperature);
    find(n, "nvmlDeviceGetPowerUsage", &n->power);
    find(n, "nvmlDeviceGetViolationStatus", &n->violation);
    if (!find(n, "nvmlDeviceGetCurrentClocksEventReasons", &n->reasons))
        find(n, "nvmlDeviceGetCurrentClocksThrottleReasons", &n->reasons);
    return find(n, "nvmlInit_v2", &n->init) &&
           find(n, "nvmlDeviceGetHandleByPciBusId_v2", &n->by_bus) &&
           find(n, "nvmlDeviceGetClockInfo", &n->clock);
}

// Vulkan's hexadecimal digits as NVML writes them.
static bool find_by_uuid(struct nvml *n, const char *hex)
{
    char uuid[48];
    snprintf(uuid, sizeof uuid, "GPU-%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16,
             hex + 20);
    return n->by_uuid && n->by_uuid(uuid, &n->device) == NVML_OK;
}

enum { CLOCK_SM = 1, CLOCK_MEMORY = 2 };

// --- sysfs ---

// In the order of trust: the first file that tells a name counts.
static const struct {
    const char *name;
    double unit; // of the file's number; 0: a state of a table, marked by a star, in MHz
    const char *file;
} numbers[] = {
    {"core_mhz", 1e-6, "hwmon/hwmon*/freq1_input"},
    {"core_mhz", 0, "pp_dpm_sclk"},
    {"core_mhz", 1, "drm/card*/gt/gt0/rps_act_freq_mhz"},
    {"core_mhz", 1, "drm/card*/gt_act_freq_mhz"},
    {"core_mhz", 1, "drm/card*/gt_cur_freq_mhz"},
    {"core_mhz", 1, "tile0/gt0/freq0/act_freq"},
    {"core_mhz", 1, "tile0/gt0/freq0/cur_freq"},
    {"memory_mhz", 1e-6, "hwmon/hwmon*/freq2_input"},
    {"memory_mhz", 0, "pp_dpm_mclk"},
    {"celsius", 1e-3, "hwmon/hwmon*/temp1_input"},
    {"watts", 1e-6, "hwmon/hwmon*/power1_average"},
    {"watts", 1e-6, "hwmon/hwmon*/power1_input"},
};

// Of Intel's: below drm/card*/gt/gt0/throttle_ (i915) and tile0/gt0/freq0/throttle/ (xe).
static const struct {
    const char *file, *reason;
} reasons[] = {
    {"reason_pl1", "power"},
    {"reason_pl2", "power"},
    {"reason_pl4", "power"},
    {"reason_thermal", "temperature"},
    {"reason_prochot", "temperature"},
    {"reason_ratl", "temperature"},
    {"reason_vr_thermalert", "temperature"},
    {"reason_vr_tdc", "current"},
};

// Of the first file of that pattern below the device; NULL: there is none, or it is refused.
static char *read_below(const struct sensors *s, const char *file, size_t *length)
{
    glob_t found;
    char *text = NULL, *pattern = path_join(s->folder, file);
    if (glob(pattern, 0, NULL, &found) == 0) {
        if (!file_read(found.gl_pathv[0], &text, length, NULL))
            text = NULL;
        globfree(&found);
    }
    free(pattern);
    return text;
}

static bool read_number(const struct sensors *s, const char *file, double *out)
{
    char *end, *text = read_below(s, file, NULL);
    if (!text)
        return false;
    *out = strtod(text, &end);
    bool ok = end != text;
    free(text);
    return ok;
}

// "0: 500Mhz\n1: 1500Mhz *\n"
static bool read_marked(const struct sensors *s, const char *file, double *out)
{
    char *text = read_below(s, file, NULL), *star = text ? strchr(text, '*') : NULL;
    bool ok = false;
    if (star) {
        while (star > text && star[-1] != '\n')
            star--;
        ok = sscanf(star, "%*d: %lf", out) == 1;
    }
    free(text);
    return ok;
}

static void read_sysfs(struct sensors *s, struct statistics *out)
{
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        double value, unit = numbers[i].unit;
        if (has(out, numbers[i].name))
            continue;
        if (unit != 0 ? read_number(s, numbers[i].file, &value)
                      : read_marked(s, numbers[i].file, &value))
            take(s, numbers[i].name, unit != 0 ? unit * value : value, out);
    }
    // Bits by what holds back, in tables of two kinds: for cards, and for processors with a GPU.
    enum { CARD_AT = 112, PROCESSOR_AT = 120 };
    size_t length = 0;
    char *bytes = read_below(s, "gpu_metrics", &length);
    int format = bytes && length > 3 ? bytes[2] : 0, content = format ? bytes[3] : 0;
    size_t at = format == 1 && content == 3                   ? CARD_AT
                : format == 2 && content >= 2 && content <= 4 ? PROCESSOR_AT
                                                              : 0;
    uint64_t bits = 0;
    if (at && length >= at + sizeof bits)
        memcpy(&bits, bytes + at, sizeof bits);
    take_bits(bits, 0, 15, "power", out);
    take_bits(bits, 16, 31, "current", out);
    take_bits(bits, 32, 55, "temperature", out);
    take_bits(bits, 56, 62, "other", out);
    free(bytes);
    static const char *const folders[] = {"drm/card*/gt/gt0/throttle_",
                                          "tile0/gt0/freq0/throttle/"};
    for (size_t f = 0; f < sizeof folders / sizeof *folders; f++)
        for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
            char file[96];
            double value;
            snprintf(file, sizeof file, "%s%s", folders[f], reasons[i].file);
            if (read_number(s, file, &value) && value != 0)
                take_reason(reasons[i].reason, out);
        }
}

static bool open_sysfs(struct sensors *s, const struct gpu_info *i, char *why, size_t size)
{
    struct statistics now = {0};
    snprintf(s->folder, sizeof s->folder, "%s/bus/pci/devices/%s",
             value_of("TILEWALK_SYSFS", "/sys"), i->pci);
    read_sysfs(s, &now);
    if (now.count)
        return true;
    snprintf(why, size, "%s tells no clock, temperature or power", s->folder);
    return false;
}

// --- both ---

struct sensors *sensors_open(const struct gpu_info *i, char *why, size_t size)
{
    struct sensors *s = mem_zero(1, sizeof *s);
    bool ok = false;
    if (!i->pci[0] && i->vendor_id != VENDOR_NVIDIA)
        snprintf(why, size, "%s",
                 i->is_cpu ? "a CPU device: nothing tells of it"
                           : "its driver does not say where the device is (VK_EXT_pci_bus_info)");
    else if (i->vendor_id == VENDOR_NVIDIA || getenv("TILEWALK_NVML")) {
        const char *path = value_of("TILEWALK_NVML", "libnvidia-ml.so.1");
        s->nvml.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        int code = NVML_OK;
        bool found = false;
        if (!s->nvml.library)
            snprintf(why, size, "NVIDIA's NVML cannot be loaded: %s (package libnvidia-ml1)",
                     dlerror());
        else if (!find_functions(&s->nvml))
            snprintf(why, size, "%s is no NVML that is known here", path);
        else if ((code = s->nvml.init()) != NVML_OK)
            snprintf(why, size, "NVML does not start: its error %d (does nvidia-smi work?)", code);
        else if (!(found = (i->pci[0] && s->nvml.by_bus(i->pci, &s->nvml.device) == NVML_OK) ||
                           find_by_uuid(&s->nvml, i->device_uuid)))
            snprintf(why, size, "NVML does not know the device %s", i->pci);
        ok = found;
    } else
        ok = open_sysfs(s, i, why, size);
    if (ok)
        return s;
    sensors_close(s);
    return NULL;
}

void sensors_read(struct sensors *s, struct statistics *out)
{
    *out = (struct statistics){0};
    if (!s)
        return;
    if (s->folder[0])
        read_sysfs(s, out);
    else {
        enum { OF_GPU = 0 };
        struct nvml *n = &s->nvml;
        unsigned value = 0;
        if (n->clock(n->device, CLOCK_SM, &value) == NVML_OK)
            take(s, "core_mhz", value, out);
        if (n->clock(n->device, CLOCK_MEMORY, &value) == NVML_OK)
            take(s, "memory_mhz", value, out);
        if (n->temperature && n->temperature(n->device, OF_GPU, &value) == NVML_OK)
            take(s, "celsius", value, out);
        if (n->power && n->power(n->device, &value) == NVML_OK)
            take(s, "watts", value / 1e3, out);
        enum { POWER_CAP = 2, SLOWDOWN = 3, SW_THERMAL = 5, HW_THERMAL = 6, POWER_BRAKE = 7 };
        static const char *const policy[POLICIES] = {"power", "temperature"};
        unsigned long long bits = 0;
        if (n->reasons && n->reasons(n->device, &bits) == NVML_OK) {
            take_bits(bits, POWER_CAP, POWER_CAP, "power", out);
            take_bits(bits, POWER_BRAKE, POWER_BRAKE, "power", out);
            take_bits(bits, SW_THERMAL, HW_THERMAL, "temperature", out);
            take_bits(bits, SLOWDOWN, SLOWDOWN, "other", out);
        }
        for (int p = 0; n->violation && p < POLICIES; p++) {
            struct violation v = {0};
            if (n->violation(n->device, p, &v) != NVML_OK)
                continue;
            if (n->held_ns[p] && v.ns > n->held_ns[p])
                take_reason(policy[p], out);
            n->held_ns[p] = v.ns;
        }
    }
}

double sensors_awake(struct sensors *s)
{
    unsigned now, most;
    bool tells = s && s->nvml.device && s->nvml.most_clock &&
                 s->nvml.clock(s->nvml.device, CLOCK_SM, &now) == NVML_OK &&
                 s->nvml.most_clock(s->nvml.device, CLOCK_SM, &most) == NVML_OK && most > 0;
    return tells ? (double)now / most : NAN;
}

void sensors_close(struct sensors *s)
{
    if (!s)
        return;
    if (s->nvml.device && s->nvml.shutdown)
        s->nvml.shutdown();
    if (s->nvml.library)
        dlclose(s->nvml.library);
    free(s);
}
