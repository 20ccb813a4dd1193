// Sources: NVML's API reference; for sysfs Documentation/gpu/amdgpu/thermal.rst, i915 and xe's
// sysfs ABI, struct gpu_metrics_v1_3 and v2_2 of the kernel's kgd_pp_interface.h.
#include "gpu/gpu.h"

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/str.h"

#include <dlfcn.h>
#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VENDOR_NVIDIA = 0x10de, NVML_OK = 0, POLICIES = 2 };

struct violation { // throttling by a policy, since the driver was loaded
    unsigned long long at_us, ns;
};

struct process {
    unsigned pid;
    unsigned long long bytes;
    unsigned instance[2];
};
typedef int processes_function(void *device, unsigned *count, struct process *out);

struct nvml {
    void *library, *device;
    int (*init)(void), (*shutdown)(void);
    int (*by_bus)(const char *bus, void **device), (*by_uuid)(const char *uuid, void **device);
    int (*clock)(void *device, int kind, unsigned *mhz);
    int (*most_clock)(void *device, int kind, unsigned *mhz);
    int (*temperature)(void *device, int kind, unsigned *celsius);
    int (*power)(void *device, unsigned *milliwatts);
    int (*energy)(void *device, unsigned long long *millijoules);
    int (*reasons)(void *device, unsigned long long *bits);
    int (*violation)(void *device, int policy, struct violation *out);
    processes_function *compute, *graphics;
    unsigned long long held_ns[POLICIES];
};

enum { MOST_PACKAGES = 16 };

struct sensors {
    char folder[256]; // of the device, or of the processors' counters, in sysfs; "": NVML is used
    bool is_cpu;
    double read[MOST_PACKAGES], begun[MOST_PACKAGES]; // microjoules: the last reading, those before
    struct nvml nvml;
    bool has_warned;
    double joules; // the counter at the last reading of a device that has no file of its power
    int64_t at_ns;
};

static const char *env_value(const char *name, const char *standard)
{
    const char *value = getenv(name);
    return value && *value ? value : standard;
}

// --- numbers ---

static void add_number(struct sensors *s, const char *name, double value, struct statistics *out)
{
    double most = strstr(name, "mhz") ? 20000 : str_equal(name, "celsius") ? 200 : 5000;
    if (value > 0 && value <= most) {
        statistics_take(out, name, value);
    } else if (value != 0 && !s->has_warned) {
        log_warning("clocks: %s %g of %s is not believed: no device has it", name, value,
                    s->folder[0] ? s->folder : "NVML");
        s->has_warned = true;
    }
}

static void add_reason(const char *reason, struct statistics *out)
{
    char name[STATISTICS_NAME_SIZE];
    snprintf(name, sizeof name, SENSORS_THROTTLE "%s", reason);
    statistics_take(out, name, 1);
}

// Adds the reason if one of the bits from `first` to `last` is set.
static void add_bits(uint64_t bits, int first, int last, const char *reason, struct statistics *out)
{
    if (bits >> first & (((uint64_t)1 << (last - first + 1)) - 1))
        add_reason(reason, out);
}

// --- NVML ---

static bool find(struct nvml *n, const char *name, void *function)
{
    void *at = dlsym(n->library, name);
    memcpy(function, &at, sizeof at); // C has no cast from an object pointer to a function pointer
    return at != NULL;
}

static bool find_functions(struct nvml *n)
{
    find(n, "nvmlShutdown", &n->shutdown);
    find(n, "nvmlDeviceGetHandleByUUID", &n->by_uuid);
    find(n, "nvmlDeviceGetMaxClockInfo", &n->most_clock);
    find(n, "nvmlDeviceGetTemperature", &n->temperature);
    find(n, "nvmlDeviceGetPowerUsage", &n->power);
    find(n, "nvmlDeviceGetTotalEnergyConsumption", &n->energy);
    find(n, "nvmlDeviceGetViolationStatus", &n->violation);
    if (!find(n, "nvmlDeviceGetCurrentClocksEventReasons", &n->reasons))
        find(n, "nvmlDeviceGetCurrentClocksThrottleReasons", &n->reasons);
    if (!find(n, "nvmlDeviceGetComputeRunningProcesses_v3", &n->compute))
        find(n, "nvmlDeviceGetComputeRunningProcesses_v2", &n->compute);
    if (!find(n, "nvmlDeviceGetGraphicsRunningProcesses_v3", &n->graphics))
        find(n, "nvmlDeviceGetGraphicsRunningProcesses_v2", &n->graphics);
    return find(n, "nvmlInit_v2", &n->init) &&
           find(n, "nvmlDeviceGetHandleByPciBusId_v2", &n->by_bus) &&
           find(n, "nvmlDeviceGetClockInfo", &n->clock);
}

// Finds the device by its bus address, else by its UUID, with Vulkan's digits in NVML's form.
static bool find_device(struct nvml *n, const struct gpu_info *i)
{
    char uuid[48];
    const char *hex = i->device_uuid;
    snprintf(uuid, sizeof uuid, "GPU-%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16,
             hex + 20);
    return (i->pci[0] && n->by_bus(i->pci, &n->device) == NVML_OK) ||
           (n->by_uuid && n->by_uuid(uuid, &n->device) == NVML_OK);
}

enum { CLOCK_SM = 1, CLOCK_MEMORY = 2 };

// --- sysfs ---

// The most reliable file comes first; the first file with a number counts.
static const struct {
    const char *name;
    double unit; // of the file's number; 0: the file is a table in MHz, a star marks the state
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

// Intel's files lie below drm/card*/gt/gt0/throttle_ (i915) and tile0/gt0/freq0/throttle/ (xe).
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

#define ENERGY_FILE "hwmon/hwmon*/energy1_input" // microjoules

// Reads the first file of that pattern below the device; NULL: there is none, or it is refused.
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

// Reads a number, or the number in the marked line of a table ("0: 500Mhz\n1: 1500Mhz *\n").
static bool read_number(const struct sensors *s, const char *file, bool is_table, double *out)
{
    char *end, *text = read_below(s, file, NULL), *star = text ? strchr(text, '*') : NULL;
    bool ok = false;
    if (text && !is_table) {
        *out = strtod(text, &end);
        ok = end != text;
    } else if (star) {
        while (star > text && star[-1] != '\n')
            star--;
        ok = sscanf(star, "%*d: %lf", out) == 1;
    }
    free(text);
    return ok;
}

// Adds the mean power since the last reading, where there is a counter of energy alone (i915, xe).
static void add_mean_power(struct sensors *s, struct statistics *out)
{
    double watts, joules = sensors_joules(s);
    int64_t now_ns = os_now_ns();
    if (statistics_find(out, "watts", &watts) || isnan(joules))
        return;
    if (s->at_ns && joules > s->joules)
        add_number(s, "watts", (joules - s->joules) / ((double)(now_ns - s->at_ns) * 1e-9), out);
    s->joules = joules;
    s->at_ns = now_ns;
}

static void read_sysfs(struct sensors *s, struct statistics *out)
{
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        double value, unit = numbers[i].unit;
        if (!statistics_find(out, numbers[i].name, &value) &&
            read_number(s, numbers[i].file, unit == 0, &value))
            add_number(s, numbers[i].name, unit != 0 ? unit * value : value, out);
    }
    add_mean_power(s, out);
    // Bits of reasons, in tables of two kinds: for cards, and for processors with a GPU.
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
    add_bits(bits, 0, 15, "power", out);
    add_bits(bits, 16, 31, "current", out);
    add_bits(bits, 32, 55, "temperature", out);
    add_bits(bits, 56, 62, "other", out);
    free(bytes);
    static const char *const folders[] = {"drm/card*/gt/gt0/throttle_",
                                          "tile0/gt0/freq0/throttle/"};
    for (size_t f = 0; f < sizeof folders / sizeof *folders; f++)
        for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
            char file[96];
            double value;
            snprintf(file, sizeof file, "%s%s", folders[f], reasons[i].file);
            if (read_number(s, file, false, &value) && value != 0)
                add_reason(reasons[i].reason, out);
        }
}

// --- processors ---

// Adds up the counters of all packages, in microjoules: RAPL's of Intel and AMD. A counter begins
// anew after max_energy_range_uj. "psys" and the parts of packages would be counted twice.
static double processor_joules(struct sensors *s)
{
    double sum = NAN;
    for (int i = 0; i < MOST_PACKAGES; i++) {
        char file[48];
        double now, range = 0;
        snprintf(file, sizeof file, "intel-rapl:%d/name", i);
        char *name = read_below(s, file, NULL);
        bool is_package = name && str_starts(name, "package");
        free(name);
        snprintf(file, sizeof file, "intel-rapl:%d/energy_uj", i);
        if (!is_package || !read_number(s, file, false, &now))
            continue;
        snprintf(file, sizeof file, "intel-rapl:%d/max_energy_range_uj", i);
        if (now < s->read[i] && read_number(s, file, false, &range))
            s->begun[i] += range;
        s->read[i] = now;
        sum = (isnan(sum) ? 0 : sum) + (s->begun[i] + now) * 1e-6;
    }
    return sum;
}

static bool open_processors(struct sensors *s, char *why, size_t size)
{
    snprintf(s->folder, sizeof s->folder, "%s/class/powercap", env_value("TILEWALK_SYSFS", "/sys"));
    s->is_cpu = true;
    if (!isnan(processor_joules(s)))
        return true;
    char *counter = path_join(s->folder, "intel-rapl:0/energy_uj");
    snprintf(why, size,
             file_exists(counter) ? "%s cannot be read (only root may, by default)"
                                  : "clock frequency and power are not available on CPU "
                                    "devices without %s",
             counter);
    free(counter);
    return false;
}

// --- all ---

struct sensors *sensors_open(const struct gpu_info *i, char *why, size_t size)
{
    struct sensors *s = mem_zero(1, sizeof *s);
    bool ok = false;
    if (!i->pci[0] && i->vendor_id != VENDOR_NVIDIA && i->is_cpu)
        ok = open_processors(s, why, size);
    else if (!i->pci[0] && i->vendor_id != VENDOR_NVIDIA)
        snprintf(why, size, "its driver does not report its PCI address (VK_EXT_pci_bus_info)");
    else if (i->vendor_id == VENDOR_NVIDIA || getenv("TILEWALK_NVML")) {
        const char *path = env_value("TILEWALK_NVML", "libnvidia-ml.so.1");
        s->nvml.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        int code = NVML_OK;
        if (!s->nvml.library)
            snprintf(why, size, "NVIDIA's NVML cannot be loaded: %s (package libnvidia-ml1)",
                     dlerror());
        else if (!find_functions(&s->nvml))
            snprintf(why, size, "%s is no NVML that is known here", path);
        else if ((code = s->nvml.init()) != NVML_OK)
            snprintf(why, size, "NVML does not start: its error %d (does nvidia-smi work?)", code);
        else if (!(ok = find_device(&s->nvml, i)))
            snprintf(why, size, "NVML does not know the device %s", i->pci);
    } else {
        struct statistics now;
        snprintf(s->folder, sizeof s->folder, "%s/bus/pci/devices/%s",
                 env_value("TILEWALK_SYSFS", "/sys"), i->pci);
        sensors_read(s, &now);
        ok = now.count > 0;
        if (!ok)
            snprintf(why, size, "%s has no clock, temperature or power", s->folder);
    }
    if (ok)
        return s;
    sensors_close(s);
    return NULL;
}

void sensors_read(struct sensors *s, struct statistics *out)
{
    *out = (struct statistics){0};
    if (!s || s->is_cpu)
        return;
    if (s->folder[0])
        read_sysfs(s, out);
    else {
        enum { OF_GPU = 0 };
        struct nvml *n = &s->nvml;
        unsigned value = 0;
        if (n->clock(n->device, CLOCK_SM, &value) == NVML_OK)
            add_number(s, "core_mhz", value, out);
        if (n->clock(n->device, CLOCK_MEMORY, &value) == NVML_OK)
            add_number(s, "memory_mhz", value, out);
        if (n->temperature && n->temperature(n->device, OF_GPU, &value) == NVML_OK)
            add_number(s, "celsius", value, out);
        if (n->power && n->power(n->device, &value) == NVML_OK)
            add_number(s, "watts", value / 1e3, out);
        enum { POWER_CAP = 2, SLOWDOWN = 3, SW_THERMAL = 5, HW_THERMAL = 6, POWER_BRAKE = 7 };
        static const char *const policy[POLICIES] = {"power", "temperature"};
        unsigned long long bits = 0;
        if (n->reasons && n->reasons(n->device, &bits) == NVML_OK) {
            add_bits(bits, POWER_CAP, POWER_CAP, "power", out);
            add_bits(bits, POWER_BRAKE, POWER_BRAKE, "power", out);
            add_bits(bits, SW_THERMAL, HW_THERMAL, "temperature", out);
            add_bits(bits, SLOWDOWN, SLOWDOWN, "other", out);
        }
        for (int p = 0; n->violation && p < POLICIES; p++) {
            struct violation v = {0};
            if (n->violation(n->device, p, &v) != NVML_OK)
                continue;
            if (n->held_ns[p] && v.ns > n->held_ns[p])
                add_reason(policy[p], out);
            n->held_ns[p] = v.ns;
        }
    }
}

double sensors_joules(struct sensors *s)
{
    unsigned long long millijoules;
    double microjoules;
    if (s && s->is_cpu)
        return processor_joules(s);
    if (s && s->folder[0])
        return read_number(s, ENERGY_FILE, false, &microjoules) ? microjoules * 1e-6 : NAN;
    bool is_known = s && s->nvml.device && s->nvml.energy &&
                    s->nvml.energy(s->nvml.device, &millijoules) == NVML_OK;
    return is_known ? (double)millijoules * 1e-3 : NAN;
}

double sensors_awake(struct sensors *s)
{
    unsigned now, most;
    bool is_known = s && s->nvml.device && s->nvml.most_clock &&
                    s->nvml.clock(s->nvml.device, CLOCK_SM, &now) == NVML_OK &&
                    s->nvml.most_clock(s->nvml.device, CLOCK_SM, &most) == NVML_OK && most > 0;
    return is_known ? (double)now / most : NAN;
}

bool sensors_users(struct sensors *s, char *out, size_t size)
{
    enum { MOST = 64 };
    struct process found[MOST];
    struct str list = {0};
    for (int k = 0; s && s->nvml.device && k < 2; k++) {
        processes_function *ask = k ? s->nvml.graphics : s->nvml.compute;
        unsigned count = MOST;
        if (!ask || ask(s->nvml.device, &count, found) != NVML_OK)
            continue;
        for (unsigned i = 0; i < count && i < MOST; i++)
            if (!card_users_are_ours(found[i].pid))
                card_users_add("", found[i].pid, &list);
    }
    bool any = card_users_name(str_text(&list), "", out, size);
    str_finish(&list);
    return any;
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
