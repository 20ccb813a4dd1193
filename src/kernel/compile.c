#include "kernel/kernel.h"

#include "base/mem.h"
#include "base/str.h"
#include "kernel/external.h"
#include "kernel/fit.h"

#include <assert.h>
#include <ctype.h>
#include <glslang/Include/glslang_c_interface.h>
#include <glslang/Public/resource_limits_c.h>
#include <glslang/build_info.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void kernel_setup(void)
{
    glslang_initialize_process();
}

// Skips the place of a message: "ERROR: 0:12: 'x' : undeclared identifier" is in line 12 of source
// 0. Link errors have no place.
static const char *skip_place(const char *message, int *source, int *line)
{
    const char *colon = strchr(message, ':');
    if (!colon || strcspn(message, " \n") < (size_t)(colon - message))
        return message;
    char *end;
    long number = strtol(colon + 1, &end, 10);
    if (end == colon + 1 || *end != ':')
        return message;
    *line = (int)number;
    *source = atoi(message);
    return end + 1 + strspn(end + 1, " ");
}

// Reports the first error of a log; returns false. glslang writes "ERROR: place: message", glslc
// "place: error: message".
static bool report_first(const char *log, struct err *e)
{
    static const char prefix[] = "ERROR: ", infix[] = "error: ";
    const char *of_glslang = strstr(log, prefix), *of_glslc = strstr(log, infix);
    const char *start = of_glslang ? of_glslang + sizeof prefix - 1 : of_glslc ? of_glslc : log;
    while (!of_glslang && of_glslc && start > log && start[-1] != '\n')
        start--;
    int line = 0, source = 0;
    const char *message = skip_place(start, &source, &line);
    if (!of_glslang && of_glslc && str_starts(message, infix))
        message += sizeof infix - 1;
    size_t length = strcspn(message, "\n");
    while (length > 0 && isspace((unsigned char)message[length - 1]))
        length--;
    if (length == 0)
        return err_set(e, "glslang failed without a message");
    char number[16] = "";
    if (source)
        snprintf(number, sizeof number, "%d", source);
    return err_at(e, number, line, "%.*s", (int)length, message);
}

static bool link_and_generate(glslang_program_t *program, struct spirv *out, struct err *e)
{
    if (!glslang_program_link(program, GLSLANG_MSG_SPV_RULES_BIT | GLSLANG_MSG_VULKAN_RULES_BIT))
        return report_first(glslang_program_get_info_log(program), e);
    glslang_program_SPIRV_generate(program, GLSLANG_STAGE_COMPUTE);
    size_t count = glslang_program_SPIRV_get_size(program);
    if (count == 0) {
        const char *messages = glslang_program_SPIRV_get_messages(program);
        return report_first(messages ? messages : "", e);
    }
    out->word = mem_alloc(count * sizeof *out->word);
    out->count = count;
    glslang_program_SPIRV_get(program, out->word);
    return true;
}

// Limits are raised so that kernel_check judges by those of the device, not glslang while parsing.
static glslang_resource_t generous_resource(void)
{
    glslang_resource_t r = *glslang_default_resource();
    r.max_compute_work_group_size_x = 1 << 20;
    r.max_compute_work_group_size_y = 1 << 20;
    r.max_compute_work_group_size_z = 1 << 20;
    return r;
}

// The targets of SPIR-V 1.OLDEST to 1.NEWEST; between two versions of Vulkan 1.4 needs an
// extension.
enum { OLDEST = 3, NEWEST = 6 };
static const struct {
    glslang_target_client_version_t vulkan;
    glslang_target_language_version_t spirv;
} targets[] = {
    [3] = {GLSLANG_TARGET_VULKAN_1_1, GLSLANG_TARGET_SPV_1_3},
    [4] = {GLSLANG_TARGET_VULKAN_1_1, GLSLANG_TARGET_SPV_1_4},
    [5] = {GLSLANG_TARGET_VULKAN_1_2, GLSLANG_TARGET_SPV_1_5},
    [6] = {GLSLANG_TARGET_VULKAN_1_3, GLSLANG_TARGET_SPV_1_6},
};

static glslang_input_t input_of(const char *glsl, int minor, const glslang_resource_t *resource)
{
    return (glslang_input_t){
        .language = GLSLANG_SOURCE_GLSL,
        .stage = GLSLANG_STAGE_COMPUTE,
        .client = GLSLANG_CLIENT_VULKAN,
        .client_version = targets[minor].vulkan,
        .target_language = GLSLANG_TARGET_SPV,
        .target_language_version = targets[minor].spirv,
        .code = glsl,
        .default_version = 450,
        .default_profile = GLSLANG_NO_PROFILE,
        .messages = GLSLANG_MSG_SPV_RULES_BIT | GLSLANG_MSG_VULKAN_RULES_BIT,
        .resource = resource,
    };
}

// Compiles by the built-in glslang for SPIR-V 1.`minor`.
static bool compile_for(const char *glsl, int minor, struct spirv *out, struct err *e)
{
    const glslang_resource_t resource = generous_resource();
    const glslang_input_t input = input_of(glsl, minor, &resource);
    *out = (struct spirv){0};
    glslang_shader_t *shader = glslang_shader_create(&input);
    if (!shader)
        return err_set(e, "glslang refuses the input (is kernel_setup missing?)");

    glslang_program_t *program = glslang_program_create();
    bool ok = glslang_shader_preprocess(shader, &input) && glslang_shader_parse(shader, &input);
    if (!ok) {
        report_first(glslang_shader_get_info_log(shader), e);
    } else {
        glslang_program_add_shader(program, shader);
        ok = link_and_generate(program, out, e);
    }
    glslang_program_delete(program); // before the shader that it holds
    glslang_shader_delete(shader);
    return ok;
}

static bool compile_outside(const char *glsl, uint32_t minor, int seconds, struct spirv *out,
                            struct err *e)
{
    struct str log = {0};
    bool compiled = external_compile(glsl, minor, seconds, out, &log, e);
    if (compiled && !out->word)
        compiled = report_first(str_text(&log), e);
    str_finish(&log);
    return compiled;
}

// A compiler that is built in has no limit of time, and gets the oldest target that compiles the
// text. Where none does, the message is that of the first.
static bool compile_within(const char *glsl, uint32_t minor, int seconds, struct spirv *out,
                           struct err *e)
{
    if (external_program())
        return compile_outside(glsl, minor ? minor : OLDEST, seconds, out, e);
    if (compile_for(glsl, OLDEST, out, e))
        return true;
    struct spirv newest;
    int needed = OLDEST + 1;
    if (!compile_for(glsl, NEWEST, &newest, NULL))
        return false;
    while (needed < NEWEST && !compile_for(glsl, needed, out, NULL))
        needed++;
    if (needed == NEWEST)
        *out = newest;
    else
        spirv_finish(&newest);
    return true;
}

bool kernel_compile(const char *glsl, struct spirv *out, struct err *e)
{
    return compile_within(glsl, 0, EXTERNAL_COMPILE_S, out, e);
}

#define MATRIX_TRIAL(extension, type)                                                              \
    "#version 450\n#extension " extension " : require\n"                                           \
    "#extension GL_KHR_memory_scope_semantics : require\nlayout(local_size_x = 32) in;\n"          \
    "layout(binding = 0) buffer C { float c; };\nvoid main() { " type                              \
    " m; c = float(m.length()); }\n"

static bool compiles(const char *glsl)
{
    struct spirv ignored;
    kernel_setup();
    bool known = compile_within(glsl, 0, EXTERNAL_VERSION_S, &ignored, NULL);
    spirv_finish(&ignored);
    return known;
}

bool kernel_knows_matrix2(void)
{
    return compiles(MATRIX_TRIAL("GL_NV_cooperative_matrix2",
                                 "coopmat<float, gl_ScopeWorkgroup, 16, 16, "
                                 "gl_MatrixUseAccumulator>"));
}

bool kernel_knows_matrix(enum matrix_api api)
{
    static const char *const trial[] = {
        [MATRIX_NV] =
            MATRIX_TRIAL("GL_NV_cooperative_matrix", "fcoopmatNV<32, gl_ScopeSubgroup, 16, 16>"),
        [MATRIX_KHR] =
            MATRIX_TRIAL("GL_KHR_cooperative_matrix",
                         "coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator>"),
    };
    return api != MATRIX_NONE && compiles(trial[api]);
}

static bool knows_extension(const char *name)
{
    char *glsl = mem_printf("#version 450\n#extension %s : require\nlayout(local_size_x = 1) in;\n"
                            "void main() {}\n",
                            name);
    bool known = compiles(glsl);
    free(glsl);
    return known;
}

bool kernel_knows_float(enum element e)
{
    const char *extension = element_floats[e].extension;
    return !extension || knows_extension(extension);
}

const char *kernel_pass_file(const struct pass *p)
{
    return p->template_name && p->template_name[0] ? p->template_name : "shader";
}

bool kernel_fail_given(const struct pass *p, const struct err *raw, struct err *e)
{
    if (!p->space_name)
        return err_at(e, kernel_pass_file(p), 0, "%s", raw->text);
    return err_at(e, p->space_name, p->space_line, "%s: %s", kernel_pass_file(p), raw->text);
}

struct found {
    char name[256], line[256]; // the file's name; the line's text, or ""
};

// Follows `#line N SOURCE // NAME` through the text to a line of a source; false: there is none.
static bool find_line(const char *glsl, int wanted, int number, struct found *out)
{
    int line = 0, source = 0, at_line, at_source;
    *out = (struct found){{0}};
    for (const char *at = glsl; *at; line++) {
        int length = (int)strcspn(at, "\n"), name = 0;
        if (sscanf(at, "#line %d %d // %n", &at_line, &at_source, &name) == 2 && name) {
            line = at_line - 1;
            source = at_source;
            if (source == wanted)
                snprintf(out->name, sizeof out->name, "%.*s", length - name, at + name);
        } else if (source == wanted && line == number) {
            snprintf(out->line, sizeof out->line, "%.*s", length, at);
            return true;
        }
        at += length + (at[length] == '\n');
    }
    return out->name[0];
}

// Returns the name of a float of 8 or 16 bits that a line of the GLSL has; NULL: it has none.
static const char *small_float(const char *glsl, int line)
{
    for (; line > 1; line--)
        glsl += strcspn(glsl, "\n") + 1;
    for (int e = 0; e < ELEMENT_COUNT; e++) {
        const char *name = element_floats[e].type, *found = name ? strstr(glsl, name) : NULL;
        if (found && (size_t)(found - glsl) < strcspn(glsl, "\n"))
            return name;
    }
    return NULL;
}

// Reports an error in another file than the template, or in the template's line that made the
// generated one. The text of #error is taken from the source: glslang puts blanks between its
// words.
static bool fail_at(const struct pass *p, const struct err *raw, struct err *e)
{
    static const char directive[] = "#error ";
    struct found f;
    if (raw->file[0] && find_line(p->glsl, atoi(raw->file), raw->line, &f))
        return err_at(e, f.name, raw->line, "%s",
                      str_starts(f.line, directive) ? f.line : raw->text);
    int line = raw->line >= 1 && raw->line <= p->line_count ? p->line_map[raw->line - 1] : 0;
    const char *small = line ? small_float(p->glsl, raw->line) : NULL;
    if (small)
        return err_at(e, kernel_pass_file(p), line,
                      "%s is not known to %s (a newer compiler, which TILEWALK_GLSLANG names, may "
                      "know it; whole numbers of its size, whose bits are moved, need none)",
                      small, kernel_built_in() ? kernel_built_in() : "this compiler");
    bool is_unknown = strstr(raw->text, "extension not supported");
    return err_at(e, kernel_pass_file(p), line, "%s%s (generated line %d)", raw->text,
                  is_unknown ? ", perhaps by a newer compiler, which TILEWALK_GLSLANG names" : "",
                  raw->line);
}

bool kernel_preprocess_pass(const struct pass *p, struct str *out, struct err *e)
{
    const glslang_resource_t resource = generous_resource();
    const glslang_input_t input = input_of(p->glsl, NEWEST, &resource);
    struct err raw = {0};
    if (str_starts(p->glsl, JOB_SPIRV))
        return str_add(out, p->glsl), true;
    glslang_shader_t *shader = glslang_shader_create(&input);
    if (!shader)
        return err_set(e, "glslang refuses the input (is kernel_setup missing?)");
    bool ok = glslang_shader_preprocess(shader, &input);
    if (ok) {
        // Leave out empty lines and #line.
        const char *text = glslang_shader_get_preprocessed_code(shader);
        for (size_t length; *text; text += length) {
            length = strcspn(text, "\n") + (text[strcspn(text, "\n")] == '\n');
            bool is_empty = strspn(text, " \t\r\n") >= length;
            if (!is_empty && !str_starts(text, "#line"))
                str_add_bytes(out, text, length);
        }
    } else
        report_first(glslang_shader_get_info_log(shader), &raw);
    glslang_shader_delete(shader);
    return ok || fail_at(p, &raw, e);
}

bool kernel_compile_pass(const struct pass *p, uint32_t minor, struct spirv *out, struct err *e)
{
    struct err raw = {0};
    bool is_spirv = str_starts(p->glsl, JOB_SPIRV);
    if (!is_spirv && !compile_within(p->glsl, minor, EXTERNAL_COMPILE_S, out, &raw))
        return fail_at(p, &raw, e);
    if (is_spirv && !kernel_read_spirv(p->glsl, out, &raw))
        return err_at(e, kernel_pass_file(p), 0, "%s", raw.text);
    if (kernel_fit(p, out, &raw))
        return true;
    spirv_finish(out);
    return kernel_fail_given(p, &raw, e);
}

bool kernel_add_compiler(char *text, size_t size, struct err *e)
{
    if (!external_program())
        return true;
    char *version = external_version(external_program(), EXTERNAL_VERSION_S, e);
    if (!version)
        return false;
    size_t length = strlen(text);
    snprintf(text + length, size - length, ", %s", version);
    free(version);
    return true;
}

#define WORDS_OF(number) #number
#define WORDS(number)    WORDS_OF(number)

const char *kernel_built_in(void)
{
    return external_program() ? NULL
                              : "glslang " WORDS(GLSLANG_VERSION_MAJOR) "." WORDS(
                                    GLSLANG_VERSION_MINOR) "." WORDS(GLSLANG_VERSION_PATCH);
}

bool kernel_describe_compiler(struct str *name, struct str *missing, struct err *e)
{
    static const char *const extensions[][2] = {
        {KERNEL_KHR_UNITS, "GL_KHR_cooperative_matrix"},
        {"integer dot products", "GL_EXT_integer_dot_product"},
        {"bf16", "GL_EXT_bfloat16"},
        {"fp8", "GL_EXT_float_e4m3"},
    };
    char outside[256] = "";
    bool tried = GLSLANG_VERSION_MAJOR >= 11 && GLSLANG_VERSION_MAJOR <= 16;
    if (!kernel_add_compiler(outside, sizeof outside, e))
        return false;
    if (external_program())
        str_add(name, outside + strlen(", "));
    else
        str_printf(name, "%s%s", kernel_built_in(), tried ? "" : ", not tried with this program");
    kernel_setup();
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
        if (!knows_extension(extensions[i][1]))
            str_printf(missing, "%s%s", missing->length ? ", " : "", extensions[i][0]);
    return true;
}

bool kernel_check_compiler(const char *text, struct err *e)
{
    char now[256] = "";
    // `then` is what kernel_add_compiler added to `text`; NULL: nothing like it is there.
    const char *of_glslang = strstr(text, ", Glslang "), *of_glslc = strstr(text, ", shaderc ");
    const char *found = of_glslang ? of_glslang : of_glslc;
    const char *then = found ? found + 2 : NULL;
    if (!kernel_add_compiler(now, sizeof now, e))
        return false;
    size_t length = strlen(text), added = strlen(now);
    if (!added)
        return !then || err_set(e,
                                "it was compiled by '%s', not by the glslang that is built in "
                                "(--glslang names the program)",
                                then);
    if (length >= added && str_equal(text + length - added, now))
        return true;
    if (then)
        return err_set(e, "it was compiled by '%s', not by '%s' (--glslang names the program)",
                       then, now + 2);
    return err_set(e,
                   "it was compiled by the glslang that is built in, not by '%s' (leave --glslang "
                   "and TILEWALK_GLSLANG out)",
                   now + 2);
}
