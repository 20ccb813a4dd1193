#include "kernel/external.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const char *external_program(void)
{
    const char *program = getenv("TILEWALK_GLSLANG");
    return program && *program ? program : NULL;
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
    if (!program_run(is_glslc ? glslc : glslang, seconds, log, &status, e))
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
    if (!program_run(argv, seconds, &log, &status, e)) {
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
