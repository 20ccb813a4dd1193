#include "help.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct script *script_from_with(const struct source *files, const struct setting *set,
                                int set_count, struct err *e)
{
    struct script_text text[MAX_SOURCES];
    int count = 0;
    for (; files[count].name; count++) {
        assert_true(count < MAX_SOURCES);
        text[count] = (struct script_text){files[count].name, files[count].name, files[count].text};
    }
    return script_create(
        &(struct script_options){
            .texts = text, .text_count = count, .set = set, .set_count = set_count},
        e);
}

struct script *script_from(const struct source *files, struct err *e)
{
    return script_from_with(files, NULL, 0, e);
}

struct script *must_load(const struct source *files)
{
    struct err e;
    char message[1400];
    struct script *s = script_from(files, &e);
    if (!s)
        fail_msg("%s", err_format(&e, message, sizeof message));
    return s;
}

struct script *must_load_text(const char *lua)
{
    return must_load((struct source[]){{"a.lua", lua}, {NULL, NULL}});
}

char *try_script(const struct source *files, char *out, size_t size)
{
    struct err e;
    struct script *s = script_from(files, &e);
    bool good = s;
    if (good) {
        struct config c;
        struct verdict v;
        struct job job = {0};
        space_point(script_space(s), 0, &c);
        good = space_judge(script_space(s), &limits_vulkan_minimum, &c, &v, &e) &&
               script_render(s, &c, &job, &e);
        job_finish(&job);
    }
    script_destroy(s);
    out[0] = '\0';
    return good ? out : err_format(&e, out, size);
}

char *render_first(const struct source *files)
{
    struct err e;
    char message[1400];
    struct script *s = script_from(files, &e);
    if (!s)
        fail_msg("%s", err_format(&e, message, sizeof message));
    struct config c;
    struct job job;
    space_point(script_space(s), 0, &c);
    if (!script_render(s, &c, &job, &e))
        fail_msg("%s", err_format(&e, message, sizeof message));
    char *text = mem_strdup(job.pass[0].glsl);
    job_finish(&job);
    script_destroy(s);
    return text;
}
