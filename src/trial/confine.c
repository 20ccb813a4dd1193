#include "trial/confine.h"

#include "base/err.h"
#include "base/file.h"
#include "base/json_read.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/str.h"
#include "kernel/external.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

// --- attempts to escape ---

static int try_file(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC, 0600);
    return fd >= 0 ? 0 : errno;
}

void escape_try(void)
{
    const char *home = getenv("HOME");
    char memory[64];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(9)};
    int status = 0, fd = socket(AF_INET, SOCK_STREAM, 0), network = fd >= 0 ? 0 : errno;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        network = errno == ECONNREFUSED ? 0 : errno; // 0: it got there
    pid_t child = fork();
    int program = child < 0 ? errno : 0;
    if (child == 0) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(errno);
    }
    if (child > 0 && waitpid(child, &status, 0) == child)
        program = WEXITSTATUS(status);
    snprintf(memory, sizeof memory, "/proc/%ld/mem", (long)getppid());
    const struct {
        const char *what;
        int error;
    } tried[] = {
        {"network", network},
        {"users", try_file("/etc/passwd", O_RDONLY)},
        {"home", try_file(home ? home : "/", O_RDONLY)},
        {"writing", try_file("/tmp/tilewalk-escaped", O_WRONLY | O_CREAT)},
        {"program", program},
        {"memory", try_file(memory, O_RDONLY)},
        {"capabilities", sandbox_has_capabilities() ? 0 : EPERM},
        {"signal", kill(getppid(), SIGCONT) == 0 ? 0 : errno},
    };
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++)
        log_warning("escape: %s: %s", tried[i].what,
                    tried[i].error ? strerror(tried[i].error) : "done");
}

// --- the environment ---

extern char **environ;

// Names of variables that workers get, or their beginnings where a star ends them.
static const char variables[] =
    "HOME LANG LC_* PATH TMPDIR TZ "
    "XDG_CACHE_HOME XDG_CONFIG_DIRS XDG_CONFIG_HOME XDG_DATA_DIRS XDG_DATA_HOME "
    // of tilewalk, of the loader of programs, of sanitizers (but not their suppressions)
    "TILEWALK_* LD_LIBRARY_PATH LD_PRELOAD ASAN_OPTIONS UBSAN_OPTIONS MALLOC_* OMP_* OPENBLAS_* "
    // of Vulkan's loader and layers, of Mesa and its drivers
    "VK_* DISABLE_* ENABLE_* NODEVICE_SELECT MESA_* DRI_* DRIRC_* EGL_* LIBGL_* NIR_* GALLIUM_* "
    "GALLIVM_* DRAW_* LP_* LVP_* ACO_* AMD_* AMDGPU_* RADV_* INTEL_* ANV_* NAK_* NVK_* NOUVEAU_* "
    "FD_* IR3_* "
    "TU_* PAN_* PANVK_* MALI_* V3D_* V3DV_* VN_* ZINK_* "
    // of NVIDIA's and AMD's own
    "CUDA_* NVIDIA_* __GL_* __NV_* __VK_* AMDVLK_* HSA_* ROCR_* ";

const char **confine_environment(void)
{
    const char **kept = NULL;
    size_t count = 0, capacity = 0;
    for (char **v = environ; *v; v++) {
        size_t length = strcspn(*v, "=");
        bool is_kept = false;
        for (const char *word = variables; *word && !is_kept; word += strcspn(word, " ") + 1) {
            size_t known = strcspn(word, "* ");
            is_kept = (word[known] == '*' ? length >= known : length == known) &&
                      strncmp(*v, word, known) == 0;
        }
        if (!is_kept)
            continue;
        MEM_GROW(kept, count, capacity);
        kept[count++] = *v;
    }
    MEM_GROW(kept, count, capacity);
    kept[count] = NULL;
    return kept;
}

// --- paths ---

// Programs, libraries, drivers, and the files that those read when they start.
static const char readable[] =
    "/usr:/lib:/lib32:/lib64:/libx32:/opt:/nix/store:/gnu/store:/run/opengl-driver:/proc:/sys:"
    "/etc/alternatives:/etc/drirc:/etc/drirc.d:/etc/glvnd:/etc/ld.so.cache:/etc/ld.so.conf:"
    "/etc/ld.so.conf.d:/etc/ld.so.preload:/etc/localtime:/etc/nvidia:/etc/vulkan:/etc/xdg/vulkan";

static const char *const readable_at_home[] = {".drirc", ".nv", ".config/vulkan",
                                               ".local/share/vulkan"};

static const char devices[] = "/dev/null:/dev/zero:/dev/full:/dev/random:/dev/urandom:"
                              "/dev/dri:/dev/kfd:/dev/dxg:/dev/udmabuf:/dev/dma_heap";
static const char *const more_devices[] = {"/dev/nvidia*", "/dev/mali*", "/dev/kgsl*"};

static void allow_below(struct sandbox *s, const char *folder, const char *name)
{
    if (!folder || !*folder)
        return;
    char *path = path_join(folder, name);
    sandbox_allow(s, SANDBOX_READ, path);
    free(path);
}

static void allow_folder_of(struct sandbox *s, const char *path)
{
    char *folder = path_folder(path);
    sandbox_allow(s, SANDBOX_READ, folder);
    free(folder);
}

static void allow_matching(struct sandbox *s, enum sandbox_right right, const char *pattern)
{
    glob_t found;
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        sandbox_allow(s, right, found.gl_pathv[i]);
    globfree(&found);
}

// Allows the driver that a manifest names, {"ICD": {"library_path": ...}}, wherever it lies.
static void allow_library_of(struct sandbox *s, const char *manifest)
{
    char *text, *folder = path_folder(manifest);
    if (file_is_regular(manifest) && file_read(manifest, &text, NULL, NULL)) {
        struct json root;
        json_read_tree(text, &root);
        for (struct json_walk w = json_walk(root); json_next(&w);) {
            struct json path = json_member(w.value, "library_path");
            struct arena a;
            arena_init(&a);
            const char *library = json_text_exact(path, &a);
            if (library && strchr(library, '/')) {
                char *below = path_join(folder, library);
                allow_folder_of(s, *library == '/' ? library : below);
                free(below);
            }
            arena_finish(&a);
        }
        json_free(&root);
        free(text);
    }
    free(folder);
}

// --- the sandbox ---

void confine_allow_worker(struct sandbox *s)
{
    sandbox_allow_list(s, SANDBOX_READ, readable);
    // Workers look in /dev for the devices that they use, inside the engine's sandbox.
    sandbox_allow(s, SANDBOX_LIST, "/dev");
    sandbox_allow_list(s, SANDBOX_DEVICE, devices);
    for (size_t i = 0; i < sizeof readable_at_home / sizeof *readable_at_home; i++)
        allow_below(s, getenv("HOME"), readable_at_home[i]);
    for (size_t i = 0; i < sizeof more_devices / sizeof *more_devices; i++)
        allow_matching(s, SANDBOX_DEVICE, more_devices[i]);
    static const char *const lists[] = {"LD_LIBRARY_PATH", "VK_LAYER_PATH", "VK_ADD_LAYER_PATH",
                                        "LIBGL_DRIVERS_PATH"};
    static const char *const manifests[] = {"VK_DRIVER_FILES", "VK_ICD_FILENAMES",
                                            "VK_ADD_DRIVER_FILES"};
    static const char *const loaders[] = {"/lib/ld-*", "/lib64/ld-*", "/lib/*/ld-*"};
    static const char *const bases[] = {"XDG_CONFIG_HOME", "XDG_DATA_HOME"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        sandbox_allow_list(s, SANDBOX_READ, getenv(lists[i]));
    // Lists of manifests, and folders of them, with their drivers.
    for (size_t i = 0; i < sizeof manifests / sizeof *manifests; i++) {
        const char *list = getenv(manifests[i]);
        char *rest, *copy = mem_strdup(list ? list : "");
        for (char *one = strtok_r(copy, ":", &rest); one; one = strtok_r(NULL, ":", &rest)) {
            char *inside = path_join(one, "*.json");
            glob_t found;
            allow_folder_of(s, one);
            sandbox_allow(s, SANDBOX_READ, one);
            allow_library_of(s, one);
            if (glob(inside, 0, NULL, &found) == 0) {
                for (size_t j = 0; j < found.gl_pathc; j++)
                    allow_library_of(s, found.gl_pathv[j]);
                globfree(&found);
            }
            free(inside);
        }
        free(copy);
    }
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
        allow_below(s, getenv(bases[i]), "vulkan");
    sandbox_allow_list(s, SANDBOX_READ, getenv("LD_PRELOAD"));
    sandbox_allow_list(s, SANDBOX_READ, getenv("TILEWALK_NVML"));
    sandbox_allow_list(s, SANDBOX_READ, getenv("TILEWALK_SYSFS"));
    // The loaders of programs: the system's, and this program's, which may have a newer C library.
    for (size_t i = 0; i < sizeof loaders / sizeof *loaders; i++)
        allow_matching(s, SANDBOX_RUN, loaders[i]);
    sandbox_allow(s, SANDBOX_RUN, os_loader());
    const char *program = external_program();
    // A compiler of the user's, with the libraries beside it. A script may start programs of the
    // system.
    if (program) {
        static const char *const beside[] = {"../lib", "../lib64", "../libexec", "../share"};
        static const char *const system[] = {"/usr", "/bin", "/lib", "/lib64"};
        char *real = realpath(program, NULL), *folder = path_folder(real ? real : program);
        char begin[2] = {0};
        FILE *f = fopen(program, "r");
        bool is_script = f && fread(begin, 1, 2, f) == 2 && memcmp(begin, "#!", 2) == 0;
        if (f)
            fclose(f);
        sandbox_allow(s, SANDBOX_RUN, program);
        allow_folder_of(s, program);
        sandbox_allow(s, SANDBOX_READ, folder);
        for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
            allow_below(s, folder, beside[i]);
        for (size_t i = 0; is_script && i < sizeof system / sizeof *system; i++)
            sandbox_allow(s, SANDBOX_RUN, system[i]);
        free(folder);
        free(real);
    }
}

struct sandbox_state confine_worker(void)
{
    struct sandbox s = {.starts = external_program() != NULL};
    confine_allow_worker(&s);
    struct sandbox_state state = sandbox_enter(&s);
    sandbox_finish(&s);
    return state;
}

struct sandbox_state confine_try_worker(const struct sandbox *engine)
{
    struct sandbox s = {.starts = external_program() != NULL};
    confine_allow_worker(&s);
    struct sandbox_state state = sandbox_try(engine, &s);
    sandbox_finish(&s);
    return state;
}
