// Long inputs: shaders of many constants and titles of many megabytes. They take linear time, or
// are refused, and stop nothing else.
#include "campaign.h"

#include "base/str.h"

#include <string.h>
#include <sys/resource.h>

enum { MOST_CONSTANTS = 20000, MOST_TITLE = 60000000 };
#define MOST_CPU_S 5.0 // cubic time took 18 s for 2000 constants

static double cpu_of_children(void)
{
    struct rusage u;
    getrusage(RUSAGE_CHILDREN, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static void try_shader(struct attempt *a)
{
    struct str text = {0};
    int count = 1 + (int)below(a, MOST_CONSTANTS);
    str_add(&text, "#version 450\nlayout(local_size_x = 64) in;\n");
    for (int i = 0; i < count; i++)
        str_printf(&text, "layout(constant_id = %d) const uint C%d = %du;\n", i, i, i % 7 + 1);
    str_add(&text, "layout(binding = 0) buffer B { uint b[]; };\nvoid main() { b[0] = C0; }\n");
    note_context(arena_printf(&a->box->arena, "a shader of %d constants", count));
    box_write(a->box, "long.comp", str_text(&text));
    str_finish(&text);
    double before = cpu_of_children();
    struct result r = STRIKE(a, "adopt", "long.comp");
    if (r.code != 0 && !*r.err)
        fail_msg("exit code %d, no message", r.code);
    if (cpu_of_children() - before > MOST_CPU_S)
        fail_msg("it took %.1f s of a processor", cpu_of_children() - before);
}

static void try_title(struct attempt *a)
{
    static const char *const columns[] = {"title", "device", "driver", "name", "message"};
    struct box *b = a->box;
    const char *column = PICK(a, columns);
    int64_t length = 1 + (int64_t)below(a, MOST_TITLE);
    for (int i = 0; i < 2; i++) {
        struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:rugged",
                              "--trials", "5", "--plain");
        assert_ok(&r);
    }
    note_context(arena_printf(&b->arena, "%s of %lld bytes", column, (long long)length));
    tamper(b, arena_printf(&b->arena,
                           "UPDATE session SET %s = replace(hex(zeroblob(%lld)), '00', 'x') "
                           "WHERE id = 1",
                           column, (long long)length));
    struct result r = STRIKE(a, "ls");
    if (r.code != 0)
        fail_msg("exit code %d: %.300s", r.code, r.err);
    STRIKE(a, "show", "1");
    r = STRIKE(a, "show", "2");
    if (r.code != 0)
        fail_msg("the other session is not shown: %.300s", r.err);
}

static void attempt(struct attempt *a)
{
    if (a->number % 2)
        try_title(a);
    else
        try_shader(a);
}

const struct attack attack_long = {
    .name = "long",
    .what = "many constants, long titles",
    .share = 1,
    .attempt = attempt,
};
