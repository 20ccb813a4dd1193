// doctor: checks the parts that tilewalk needs, and names the Debian package of those that are
// missing.
#include "base/file.h"
#include "base/mem.h"
#include "cli/common.h"
#include "cli/confine.h"
#include "cli/on.h"
#include "engine/devices.h"
#include "gpu/gpu.h"
#include "model/trees.h"
#include "report/text.h"
#include "trial/confine.h"
#include "trial/helper_job.h"
#include "trial/operator.h"
#include "trial/remote.h"

#include <glob.h>
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_CHECKS 32

struct check {
    const char *name;
    bool needed, ok;
    char found[320];  // the part that is there, or the trouble
    const char *hint; // how to get it
};

struct doctor {
    struct check check[MOST_CHECKS];
    int count;
    struct gpu_info *list;
    int devices, best; // real GPUs come first; -1: none runs kernels
    struct sandbox_state engine, worker;
};

// `text` may be NULL: then the caller writes `found`.
static struct check *add_check(struct doctor *d, const char *name, bool needed, bool ok,
                               const char *text, const char *hint)
{
    struct check *c = &d->check[d->count++];
    *c = (struct check){.name = name, .needed = needed, .ok = ok, .hint = hint};
    snprintf(c->found, sizeof c->found, "%s", text ? text : "");
    return c;
}

// --- cards of this host that are not among the devices ---
//
// Containers and machines without a display often have a card and no Vulkan device of it: a file, a
// library or a right that its driver needs is missing. Sources: the installation guides of NVIDIA's
// driver and of its container toolkit; Mesa's amdgpu, i915 and xe are reached through /dev/dri. The
// files of the system are looked for below TILEWALK_ROOT (for tests; else where they are).

enum { VENDOR_AMD = 0x1002, VENDOR_NVIDIA = 0x10de, VENDOR_INTEL = 0x8086 };

#define CAPABILITIES                                                                               \
    "in containers, give it the capability graphics: docker run --gpus all -e "                    \
    "NVIDIA_DRIVER_CAPABILITIES=compute,utility,graphics; else apt install nvidia-vulkan-icd"

static void add_trouble(struct doctor *d, const char *found, const char *hint)
{
    add_check(d, "a card's driver", false, false, found, hint);
}

// Returns the first path of the system that matches a pattern; heap.
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

static bool has_device(const struct doctor *d, uint32_t vendor)
{
    for (int i = 0; i < d->devices; i++)
        if (d->list[i].vendor_id == vendor)
            return true;
    return false;
}

static void look_at_nvidia(struct doctor *d)
{
    if (!is_there("/dev/nvidiactl") && !is_there("/dev/nvidia[0-9]*"))
        add_trouble(
            d, "an NVIDIA card's kernel module is loaded, but /dev/nvidia* is missing",
            "in containers: docker run --gpus all; else nvidia-smi as root makes the files");
    // The loader looks in these folders and in those of its variables.
    int count;
    char **file = gpu_driver_files(&count);
    bool found = is_there("/usr/share/vulkan/icd.d/nvidia*.json") ||
                 is_there("/etc/vulkan/icd.d/nvidia*.json");
    for (int i = 0; i < count; i++) {
        found = found || (!getenv("TILEWALK_ROOT") && strstr(file[i], "nvidia"));
        free(file[i]);
    }
    free(file);
    if (!found)
        add_trouble(d, "no Vulkan manifest of NVIDIA's driver (nvidia_icd.json)", CAPABILITIES);
    if (!has_library("libGLX_nvidia.so.*") && !has_library("libEGL_nvidia.so.*"))
        add_trouble(d,
                    "NVIDIA's Vulkan driver is not there (libGLX_nvidia.so.0, libEGL_nvidia.so.0)",
                    CAPABILITIES);
    if (!has_library("libXext.so.6*"))
        add_trouble(d, "libXext.so.6 is not there: NVIDIA's driver loads it also without a display",
                    "apt install libxext6");
    if (!has_library("libEGL.so.1*"))
        add_trouble(d,
                    "libEGL.so.1 is not there: NVIDIA's driver loads it where there is no display",
                    "apt install libegl1");
    if (!is_there("/usr/share/glvnd/egl_vendor.d/*nvidia*.json") &&
        !is_there("/etc/glvnd/egl_vendor.d/*nvidia*.json"))
        add_trouble(
            d,
            "no EGL manifest of NVIDIA's driver (egl_vendor.d/10_nvidia.json), which it needs "
            "without a display",
            "apt install libnvidia-egl-gbm1 nvidia-egl-common, or mount the host's "
            "/usr/share/glvnd/egl_vendor.d");
    if (!has_library("libnvidia-glvkspirv.so.*"))
        add_trouble(
            d, "libnvidia-glvkspirv is not there: NVIDIA's driver compiles no shader without it",
            "apt install libnvidia-glvkspirv, of the driver's own version; in containers the "
            "capability graphics brings it");
}

// Looks for a card by the vendor that the kernel knows.
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

static void look_at_mesa(struct doctor *d, const char *vendor)
{
    char found[160], *node = first_of("/dev/dri/renderD*");
    if (!node) {
        snprintf(found, sizeof found, "there is a card of %s, but no /dev/dri/renderD*", vendor);
        add_trouble(d, found, "in containers: docker run --device /dev/dri");
    } else if (access(node, R_OK | W_OK) != 0) {
        snprintf(found, sizeof found, "%s cannot be opened by this user", node);
        add_trouble(d, found,
                    "sudo usermod -aG render $USER, and log in again; in containers: docker run "
                    "--device /dev/dri --group-add render");
    } else {
        snprintf(found, sizeof found, "there is a card of %s, and no driver shows it", vendor);
        add_trouble(d, found, "apt install mesa-vulkan-drivers");
    }
    free(node);
}

// --- devices ---

static void check_devices(struct doctor *d)
{
    struct err e;
    bool ok = devices_find(&d->list, &d->devices, &e);
    add_check(d, "Vulkan", true, ok, ok ? "works" : e.text,
              "apt install libvulkan1 mesa-vulkan-drivers");
    if (!ok)
        return;
    struct check *c = add_check(d, "device", true, d->devices > 0, "none",
                                "apt install mesa-vulkan-drivers (it brings a CPU device)");
    if (!d->devices)
        return;
    if (!gpu_choose(d->list, d->devices, NULL, &d->best, &e)) {
        c->ok = false;
        d->best = -1;
        snprintf(c->found, sizeof c->found, "%s", e.text);
        return;
    }
    const struct gpu_info *best = &d->list[d->best];
    snprintf(c->found, sizeof c->found, "%s%s", best->name, d->devices > 1 ? ", and others" : "");
    add_check(d, "real GPU", false, !best->is_cpu,
              best->is_cpu ? "none: everything works, on the CPU device" : best->name,
              "apt install mesa-vulkan-drivers (AMD, Intel) or nvidia-driver (NVIDIA)");
}

// Returns how a device is kept from changing its clocks; tilewalk changes none.
static const char *locking_hint(const struct gpu_info *i)
{
    switch (i->vendor_id) {
    case VENDOR_NVIDIA:
        return "to lock clocks while tuning: nvidia-smi -q -d SUPPORTED_CLOCKS lists them, sudo "
               "nvidia-smi -lgc MHZ,MHZ locks them, sudo nvidia-smi -rgc undoes it";
    case VENDOR_AMD:
        return "to lock clocks while tuning: write profile_standard to "
               "/sys/bus/pci/devices/BUS/power_dpm_force_performance_level (auto undoes it)";
    case VENDOR_INTEL:
        return "to lock clocks while tuning: write one frequency to gt_min_freq_mhz and "
               "gt_max_freq_mhz in /sys/bus/pci/devices/BUS/drm/card*, with the xe driver to "
               "min_freq and max_freq in tile0/gt0/freq0";
    default:
        return "to keep a CPU's clocks while tuning: cpupower frequency-set -g performance, and "
               "run nothing else";
    }
}

// Opens the best device twice, each time in a process of its own. Where only the second time fails,
// the validation layer is missing.
static void check_open(struct doctor *d)
{
    struct err e;
    if (!d->devices || d->best < 0)
        return;
    struct clocks clocks;
    bool plain = helper_job_open(d->best, false, devices_patience_s(), &clocks, &e);
    add_check(d, "opening it", true, plain, plain ? "works" : e.text,
              "another driver version (apt install mesa-vulkan-drivers)");
    if (!plain)
        return;
    struct statistics now = clocks.now;
    struct str sensors = {0}, text = {0};
    statistics_add_json(&now, &sensors);
    text_add_clocks(str_text(&sensors), 0, &text);
    add_check(d, "clocks", false, text.length > 0, text.length ? str_text(&text) : clocks.why,
              d->list[d->best].vendor_id == VENDOR_NVIDIA
                  ? "apt install libnvidia-ml1, beside the driver"
                  : "the clock frequency is not available on this device");
    add_check(d, "steady clocks", false, false, "tilewalk cannot find out whether they are locked",
              locking_hint(&d->list[d->best]));
    str_finish(&sensors);
    str_finish(&text);
    bool validated = helper_job_open(d->best, true, devices_patience_s(), NULL, &e);
    add_check(d, "validation layer", false, validated, validated ? "for tune --validate" : e.text,
              "apt install vulkan-validationlayers");
}

// Checks the library of the reference: it multiplies two matrices whose product is known.
static void check_blas(struct doctor *d)
{
    enum { N = 3, M = 5, K = 7 };
    struct operation o;
    float a[N * K], b[K * M], c[N * M] = {0};
    bool ok = true;
    operation_init(&o, operation_kind_find("matmul"));
    operation_set_size(&o, "N", N, NULL);
    operation_set_size(&o, "M", M, NULL);
    operation_set_size(&o, "K", K, NULL);
    operation_complete(&o, NULL);
    for (int i = 0; i < N * K; i++)
        a[i] = (float)(i / K);
    for (int i = 0; i < K * M; i++)
        b[i] = (float)(i % M);
    mem_expect(operator_reference_bytes(&o));
    operator_reference(&o, (const void *const[]){a, b}, c);
    for (int i = 0; i < N * M; i++)
        ok = ok && c[i] == (float)(K * (i / M) * (i % M));
    add_check(d, "BLAS", true, ok, ok ? "works" : "computes a wrong product",
              "another library of those that the linker may choose (update-alternatives --list "
              "libblas.so.3-x86_64-linux-gnu; apt install --reinstall libopenblas0-pthread)");
}

// Checks the compiler of GLSL: matrix units of AMD and Intel need a newer one than Debian 12's.
static void check_compiler(struct doctor *d)
{
    struct str name = {0}, missing = {0};
    struct err e;
    bool complete = false, ok = devices_describe_compiler(&name, &missing, &complete, &e);
    struct check *c = add_check(d, "GLSL compiler", !ok, ok && complete, ok ? NULL : e.text,
                                ok ? "./dev build in the sources makes a newer one where it can "
                                     "(docs/guide/install.md); --glslang names another one"
                                   : "--glslang and TILEWALK_GLSLANG name a glslang or glslc");
    if (ok)
        snprintf(c->found, sizeof c->found, "%s%s%s", str_text(&name),
                 missing.length ? ", without " : "", str_text(&missing));
    str_finish(&name);
    str_finish(&missing);
}

// Checks the library of surrogates: its trees have to distinguish two programs.
static void check_xgboost(struct doctor *d)
{
    char library[TREES_LIBRARY];
    bool tried;
    if (!trees_library(library, &tried)) {
        add_check(d, "XGBoost", false, false, "this build has none: no autotvm, ansor and forest",
                  "apt install libxgboost-dev, and build tilewalk again");
        return;
    }
    const float x[] = {0, 1}, y[] = {0, 1};
    const struct booster_options o = {
        .depth = 1, .eta = 1, .most_rounds = 1, .patience = 1, .look_every = 1};
    const struct booster_rows r = {.x = x, .y = y, .rows = 2, .width = 1, .programs = 2};
    struct err e;
    struct booster *b = booster_fit(&o, &r, NULL, &e);
    float predicted[2] = {0};
    if (b)
        booster_predict(b, x, 2, predicted);
    bool ok = predicted[0] < predicted[1];
    struct check *c = add_check(d, "XGBoost", true, ok,
                                ok  ? NULL
                                : b ? "learns nothing"
                                    : e.text,
                                "apt install --reinstall libxgboost0");
    if (ok)
        snprintf(c->found, sizeof c->found, "works (%s%s)", library,
                 tried ? "" : ", not tried with this program: 1.6 to 3.x were");
    booster_destroy(b);
}

static void check_database(struct doctor *d, const struct arguments *a)
{
    struct err e;
    char *path = common_database(a);
    struct store *s = store_open(path, STORE_WRITE, &e);
    bool ok = s && store_check(s, &e) && store_check_sessions(s, &e);
    add_check(d, "database", true, ok, ok ? path : e.text,
              "name another with --db or TILEWALK_DB, or make its folder writable");
    store_close(s);
    free(path);
}

// Checks that an agent answers at each place of --on, and lists its devices.
static void check_places(struct doctor *d, const struct arguments *a)
{
    const char *place[ON_MOST];
    int places = arguments_list(a, "on", place, ON_MOST);
    for (int i = 0; i < places && d->count + 1 < MOST_CHECKS; i++) {
        struct err e = {0};
        struct on on;
        struct str found = {0};
        int count = 0;
        bool begun = on_begin(&on, a, &place[i], 1, &e), pool = on_is_pool(place[i]);
        on.machines.wait_s = pool ? 1 : on.machines.wait_s;
        struct remote *r = begun ? remote_connect(&on.machines, true, &e) : NULL;
        const struct gpu_info *list = r ? remote_devices(r, &count) : NULL;
        for (int k = 0; k < count; k++)
            str_printf(&found, "%s%s (%s)", k ? ", " : "", list[k].name, list[k].driver);
        if (r && !count)
            str_add(&found, "it has no device");
        add_check(d, pool ? "pool" : place[i], true, count > 0, r ? str_text(&found) : e.text,
                  pool ? "tilewalk worker runs on each machine that measures, and speaks this "
                         "protocol (docs/guide/fleet.md)"
                  : str_starts(place[i], REMOTE_EXEC)
                      ? "the command has to lead to `tilewalk agent` on its standard input and "
                        "output (docs/guide/fleet.md)"
                      : "ssh has to reach it without a question, and to find a tilewalk there "
                        "that speaks this protocol (hosts.conf: docs/guide/fleet.md)");
        str_finish(&found);
        remote_destroy(r);
        on_end(&on);
    }
}

static const char *part_text(enum sandbox_part part)
{
    return part == SANDBOX_HOLDS ? "holds" : part == SANDBOX_ABSENT ? "not in this kernel" : "no";
}

static bool all_hold(const struct sandbox_state *s)
{
    return s->no_new_privs == SANDBOX_HOLDS && s->seccomp == SANDBOX_HOLDS &&
           s->landlock == SANDBOX_HOLDS && s->capabilities == SANDBOX_HOLDS;
}

// Looks from within both kinds of process: a worker has its sandbox inside that of its engine.
static void check_sandbox(struct doctor *d)
{
    struct sandbox engine;
    confine_begin(&engine);
    d->engine = sandbox_try(NULL, &engine);
    d->worker = confine_try_worker(&engine);
    sandbox_finish(&engine);
    const struct {
        const char *name;
        const struct sandbox_state *state;
    } kind[] = {{"sandbox", &d->worker}, {"sandbox of the engine", &d->engine}};
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++) {
        const struct sandbox_state *s = kind[i].state;
        struct check *c =
            add_check(d, kind[i].name, false, all_hold(s), NULL,
                      sandbox_is_off() ? "unset TILEWALK_SANDBOX: it is 0, which turns it off"
                                       : "Linux 5.13 or newer, with landlock among its security "
                                         "modules (lsm=), and containers that allow both");
        snprintf(c->found, sizeof c->found,
                 "no_new_privs %s, seccomp %s, landlock %s, capabilities %s",
                 part_text(s->no_new_privs), part_text(s->seccomp), part_text(s->landlock),
                 s->capabilities == SANDBOX_HOLDS ? "dropped" : "kept");
    }
}

static const char *state_of(const struct check *c)
{
    return c->ok ? "ok" : c->needed ? "missing" : "optional";
}

static const char *part_json(enum sandbox_part part)
{
    return part == SANDBOX_HOLDS ? "true" : part == SANDBOX_ABSENT ? "null" : "false";
}

static void add_sandbox(struct json_writer *w, const struct sandbox_state *s)
{
    json_add_raw(w, "no_new_privs", part_json(s->no_new_privs));
    json_add_raw(w, "seccomp", part_json(s->seccomp));
    json_add_raw(w, "landlock", part_json(s->landlock));
    json_add_raw(w, "capabilities", part_json(s->capabilities));
}

static void doctor_print_json(const struct doctor *d, bool ok)
{
    struct str out = {0};
    struct json_writer w = json_begin(&out);
    json_add_flag(&w, "ok", ok);
    json_begin_list(&w, "checks");
    for (int i = 0; i < d->count; i++) {
        const struct check *c = &d->check[i];
        json_begin_object(&w, NULL);
        json_add_text(&w, "name", c->name);
        json_add_text(&w, "state", state_of(c));
        json_add_flag(&w, "needed", c->needed);
        json_add_text(&w, "found", c->found);
        json_add_text(&w, "hint", c->hint);
        json_end(&w);
    }
    json_end(&w);
    json_begin_object(&w, "sandbox");
    add_sandbox(&w, &d->worker);
    json_begin_object(&w, "engine");
    add_sandbox(&w, &d->engine);
    json_print(&w);
}

static int run_doctor(const struct command *self, const struct arguments *a)
{
    struct doctor d = {0};
    bool ok = true;
    (void)self;
    check_devices(&d);
    // Cards that no driver shows.
    bool nvidia = is_there("/proc/driver/nvidia/version") || is_there("/dev/nvidiactl");
    if (nvidia && !has_device(&d, VENDOR_NVIDIA))
        look_at_nvidia(&d);
    if (has_card(VENDOR_AMD) && !has_device(&d, VENDOR_AMD))
        look_at_mesa(&d, "AMD");
    if (has_card(VENDOR_INTEL) && !has_device(&d, VENDOR_INTEL))
        look_at_mesa(&d, "Intel");
    check_open(&d);
    check_compiler(&d);
    check_blas(&d);
    check_xgboost(&d);
    check_database(&d, a);
    static const char *const folders[] = {"presets", "shaders", "lua"};
    struct str missing = {0};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char *path = path_shipped(folders[i]);
        if (!path)
            str_printf(&missing, "%s%s", missing.length ? ", " : "no ", folders[i]);
        free(path);
    }
    add_check(&d, "shipped files", true, !missing.length,
              missing.length ? str_text(&missing) : "presets, shaders, lua",
              "install tilewalk again, or set TILEWALK_DATA to a folder that has them");
    str_finish(&missing);
    const char *set = nl_langinfo(CODESET); // main called setlocale
    add_check(&d, "UTF-8 terminal", false, str_equal(set, "UTF-8"), set, "export LANG=C.UTF-8");
    check_sandbox(&d);
    check_places(&d, a);
    for (int i = 0; i < d.count; i++)
        ok = ok && (d.check[i].ok || !d.check[i].needed);
    if (arguments_flag(a, "json"))
        doctor_print_json(&d, ok);
    else {
        for (int i = 0; i < d.count; i++) {
            const struct check *c = &d.check[i];
            printf("%-8s  %-16s  %s\n", state_of(c), c->name, c->found);
            if (!c->ok)
                printf("%-8s  %-16s  -> %s\n", "", "", c->hint);
        }
    }
    free(d.list);
    return ok ? EXIT_OK : EXIT_FAILED;
}

static const struct option options[] = {
    {"on", OPTION_REPEATED, "local:|ssh:HOST|nats://HOST|exec:'COMMAND'",
     "check too that an agent can be started there, or list the devices of this pool"},
    {"pool", OPTION_TEXT, .hidden = true, .now = "on=*"},
    OPTION_ACCESS,
    OPTION_JSON,
    OPTION_DB,
    OPTION_END};

const struct command cmd_doctor = {
    .name = "doctor",
    .help = "list what is missing on this machine and how to get it",
    .options = options,
    .run = run_doctor,
};
