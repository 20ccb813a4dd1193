#include "kernel/external.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/os.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_OUTPUT_BYTES = 1 << 20 };
#define MS_NS ((int64_t)1000000)

const char *external_program(void)
{
    const char *program = getenv("TILEWALK_GLSLANG");
    return program && *program ? program : NULL;
}

bool external_run(const char *const *argv, int seconds, struct str *log, int *status, struct err *e)
{
    char bytes[4096];
    struct child c = {0};
    if (!os_spawn_kept(&c, argv, e))
        return false;
    int64_t end_ns = os_now_ns() + seconds * 1000 * MS_NS;
    bool ended = false;
    for (int64_t left_ns; !ended && (left_ns = end_ns - os_now_ns()) > 0;) {
        poll(&(struct pollfd){.fd = c.stderr_fd, .events = POLLIN}, 1, (int)(left_ns / MS_NS) + 1);
        ssize_t n = read(c.stderr_fd, bytes, sizeof bytes);
        if (n > 0 && log->length < MOST_OUTPUT_BYTES)
            str_add_bytes(log, bytes, (size_t)n);
        ended = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
    }
    while (ended && !os_reap(&c, status))
        poll(NULL, 0, 1); // it is about to end
    os_kill(&c, NULL);
    return ended || err_set(e, "'%s' did not end in %d s", argv[0], seconds);
}

static bool read_module(FILE *f, struct spirv *out)
{
    long bytes = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    if (bytes <= 0 || bytes % 4)
        return false;
    rewind(f);
    out->count = (size_t)bytes / 4;
    out->word = mem_alloc((size_t)bytes);
    if (fread(out->word, 4, out->count, f) == out->count)
        return true;
    spirv_finish(out);
    return false;
}

// The files are in memory, and the child opens them through this process: a process that is killed
// leaves nothing behind, and a sandbox has no folder to write to.
static bool compile_files(FILE *in, FILE *module, uint32_t minor, int seconds, struct spirv *out,
                          struct str *log, struct err *e)
{
    const char *program = external_program();
    char in_path[64], out_path[64], env[16], glslc_env[32];
    int status = 0;
    snprintf(in_path, sizeof in_path, "/proc/%ld/fd/%d", (long)getpid(), fileno(in));
    snprintf(out_path, sizeof out_path, "/proc/%ld/fd/%d", (long)getpid(), fileno(module));
    // Vulkan 1.1 to 1.3 take SPIR-V 1.3, 1.5 and 1.6; what lies between is named beside them.
    snprintf(env, sizeof env, "vulkan1.%d", minor >= 6 ? 3 : minor == 5 ? 2 : 1);
    snprintf(glslc_env, sizeof glslc_env, "--target-env=%s", env);
    const char *const glslang[] = {
        program,    "-V", "--target-env", env,     "-S",
        "comp",     "-o", out_path,       in_path, minor == 4 ? "--target-env" : NULL,
        "spirv1.4", NULL};
    const char *const glslc[] = {program,
                                 "-fshader-stage=compute",
                                 glslc_env,
                                 "-o",
                                 out_path,
                                 in_path,
                                 minor == 4 ? "--target-spv=spv1.4" : NULL,
                                 NULL};
    bool is_glslc = strstr(path_name(program), "glslc") != NULL;
    if (!external_run(is_glslc ? glslc : glslang, seconds, log, &status, e))
        return err_prefix(e, "--glslang");
    bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return (good && read_module(module, out)) || log->length > 0 ||
           err_set(e, "--glslang: '%s' ended without a module and without a word", program);
}

bool external_compile(const char *glsl, uint32_t minor, int seconds, struct spirv *out,
                      struct str *log, struct err *e)
{
    FILE *in = os_unnamed_file(), *module = os_unnamed_file();
    *out = (struct spirv){0};
    bool ok = in && module && fputs(glsl, in) >= 0 && fflush(in) == 0;
    if (!ok)
        err_set(e, "--glslang: a temporary file: %s", strerror(errno));
    else
        ok = compile_files(in, module, minor, seconds, out, log, e);
    if (in)
        fclose(in);
    if (module)
        fclose(module);
    return ok;
}

char *external_version(const char *program, int seconds, struct err *e)
{
    const char *const argv[] = {program, "--version", NULL};
    struct str log = {0};
    int status = 0;
    char *version = NULL;
    if (!external_run(argv, seconds, &log, &status, e)) {
        err_prefix(e, "--glslang");
    } else {
        size_t length = strcspn(str_text(&log), "\r\n");
        if (length > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
            version = mem_printf("%.*s", (int)length, str_text(&log));
        else
            err_set(e, "--glslang: '%s' does not say its version: is it a GLSL compiler?", program);
    }
    str_finish(&log);
    return version;
}
