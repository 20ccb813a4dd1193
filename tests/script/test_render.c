// Templates: the GLSL of each line, the map from lines of GLSL to lines of templates, passes, and
// texts that are not templates.
#include "base/mem.h"
#include "base/rng.h"
#include "group.h"
#include "help.h"
#include "script/template.h"

#include <stddef.h>
#include <string.h>

static void gives(const char *glsl, const char *expected)
{
    char *text = render_first(
        (struct source[]){{"a.lua", OPERATOR PARAM
                           "kernel { template = 't.comp', groups = function() return { 1 } end,"
                           " values = function(c) return { n = 2, list = { 7, 8 }, yes = true,"
                           " block = 'one\\ntwo', f = function(x) return x * 2 end } end }"},
                          {"t.comp", glsl},
                          {NULL, NULL}});
    assert_string_equal(text, expected);
    free(text);
}

static void lines_are_text_code_or_values(void **state)
{
    (void)state;
    gives("void main() {}", "void main() {}\n");
    gives("a\r\nb", "a\r\nb\n");
    gives("\n\nx\n\n", "\n\nx\n\n");
    gives("% for i = 1, n do\nx${i}_${i * i};\n%end\n", "x1_1;\nx2_4;\n");
    gives("  %\n\t% -- nothing\nx\n", "x\n");
    gives("a\n %% b %\n%%\n", "a\n % b %\n%\n");
    gives("$ $x {} $$${n}{}${n}$\n", "$ $x {} $$2{}2$\n");
    gives("${({ 5, 6 })[n]} ${list[1]} ${f(n)} ${#list}\n", "6 7 4 2\n");
    gives("${\"}\"}${'}'}${'\\'}'}${({ ['}'] = 1 })['}']}\n", "}}'}1\n");
    gives("${yes} ${not yes} ${block}!\n", "true false one\ntwo!\n");
    gives("% local function twice(x)\n% return x .. x\n% end\n${twice('ab')}\n", "abab\n");
    gives("% if n > 1 then\nmany\n% else\none\n% end\n", "many\n");
    gives("% local _ = 1\n% for _, v in ipairs(list) do\n${v}\n% end\n", "7\n8\n");
    gives("% return\nx\n", "x\n");
}

static void numbers_are_glsl(void **state)
{
    (void)state;
    gives("${8} ${-8} ${8 // 3} ${1 << 40}\n", "8 -8 2 1099511627776\n");
    gives("${8 / 2} ${0.1} ${-1.5} ${1e20} ${1e-7} ${0.0} ${2^-149}\n",
          "4.0 0.1 -1.5 1e+20 1e-07 0.0 1.401298464324817e-45\n");
}

static void every_line_knows_where_it_comes_from(void **state)
{
    (void)state;
    struct source files[] = {{"a.lua", OPERATOR PARAM KERNEL},
                             {"t.comp", "first\n"
                                        "% for i = 1, 2 do\n"
                                        "x${i}\n"
                                        "% end\n"
                                        "${'a\\nb'} c ${'d\\ne\\n'}\n"
                                        "last"},
                             {NULL, NULL}};
    static const int expected[] = {1, 3, 3, 5, 5, 5, 5, 6};
    struct err e;
    struct script *s = script_from(files, &e);
    assert_non_null(s);
    struct config c;
    struct job job;
    space_point(script_space(s), 0, &c);
    assert_true(script_render(s, &c, &job, &e));
    const struct pass *p = &job.pass[0];
    assert_string_equal(p->glsl, "first\nx1\nx2\na\nb c d\ne\n\nlast\n");
    assert_string_equal(p->template_name, "t.comp");
    assert_int_equal(p->line_count, 8);
    assert_memory_equal(p->line_map, expected, sizeof expected);
    job_finish(&job);
    script_destroy(s);
}

static void passes_groups_and_scratch(void **state)
{
    (void)state;
    struct source files[] = {
        {"a.lua",
         OPERATOR "param.split = discrete { 1, 2 }\n"
                  "resources(function(c) return { groups = { 3, c.split } } end)\n"
                  "kernel { template = 't.comp', values = function(c) return { n = 10 } end,\n"
                  "  subgroup = function(c) return 16.0 * c.split end }\n"
                  "kernel { template = 'u.comp', when = function(c) return c.split > 1 end,\n"
                  "  groups = function(c) return { 4, 5.0, 6 } end }\n"
                  "scratch(function(c) return c.split > 1 and 1024 * c.split - 3 or 0 end)"},
        {"t.comp", "t ${n}"},
        {"u.comp", "u ${c.split}"},
        {NULL, NULL}};
    struct err e;
    struct script *s = script_from(files, &e);
    assert_non_null(s);
    struct config c;
    struct job job;
    space_point(script_space(s), 0, &c);
    assert_true(script_render(s, &c, &job, &e));
    assert_int_equal(job.pass_count, 1);
    assert_int_equal(job.scratch_bytes, 0);
    assert_memory_equal(job.pass[0].groups, ((uint32_t[]){3, 1, 1}), sizeof job.pass[0].groups);
    job_finish(&job);
    space_point(script_space(s), 1, &c);
    assert_true(script_render(s, &c, &job, &e));
    assert_int_equal(job.pass_count, 2);
    assert_int_equal(job.scratch_bytes, 2048); // whole words
    assert_string_equal(job.pass[0].glsl, "t 10\n");
    assert_string_equal(job.pass[1].glsl, "u 2\n");
    assert_memory_equal(job.pass[0].groups, ((uint32_t[]){3, 2, 1}), sizeof job.pass[0].groups);
    assert_true(job.pass[0].subgroup == 32 && job.pass[1].subgroup == 0);
    assert_memory_equal(job.pass[1].groups, ((uint32_t[]){4, 5, 6}), sizeof job.pass[1].groups);
    job_finish(&job);
    script_destroy(s);
}

// The chunk has a line for each line of the template, and Lua code is in it as it was written.
static void the_chunk_keeps_lines(void **state)
{
    (void)state;
    struct glsl_template t;
    struct str lua = {0};
    struct err e;
    assert_true(template_parse(&t, "t", "a ${x} b ${y+1}\n%  local z\nplain\n", &e));
    template_add_lua(&t, &lua);
    assert_string_equal(str_text(&lua), "local _emit_ = ... _emit_(1,(x),(y+1))\n"
                                        "   local z\n"
                                        "_emit_(3)\n");
    str_finish(&lua);
    template_finish(&t);
}

static int count_lines(const char *text)
{
    int lines = 0;
    for (; *text; text++)
        lines += *text == '\n' || !text[1];
    return lines;
}

// Random texts from the characters that matter: parsing never fails without a line, and never loses
// one.
static void parsing_takes_anything(void **state)
{
    (void)state;
    static const char alphabet[] = "$${{}}%%\n\n\"'\\ax1 \t\r()[],-=.";
    struct rng r;
    rng_seed(&r, 11);
    int parsed = 0;
    for (int round = 0; round < 50000; round++) {
        char text[41];
        size_t length = (size_t)rng_below(&r, sizeof text);
        for (size_t i = 0; i < length; i++)
            text[i] = alphabet[rng_below(&r, sizeof alphabet - 1)];
        text[length] = '\0';
        char *exact = mem_strdup(text); // so that a sanitizer sees a read behind its end
        struct glsl_template t;
        struct err e = {.line = 0};
        if (template_parse(&t, "t", exact, &e)) {
            struct str lua = {0};
            template_add_lua(&t, &lua);
            assert_int_equal(t.lines, count_lines(exact));
            int newlines = 0;
            for (const char *p = str_text(&lua); *p; p++)
                newlines += *p == '\n';
            assert_int_equal(newlines, t.lines);
            str_finish(&lua);
            template_finish(&t);
            parsed++;
        } else
            assert_in_range(e.line, 1, count_lines(exact));
        free(exact);
    }
    assert_in_range(parsed, 10000, 49999); // both ways out were taken
}

// The same through Lua: anything may fail, but only as an error with a place.
static void rendering_takes_anything(void **state)
{
    (void)state;
    static const char *const words[] = {
        "${",  "}",  "%",      "\n% ",  "\n",    "c.p", "[1]", "(", ")",  "\"", "for i=1,2 do",
        "end", "if", "then",   "nil",   "local", "x",   "=",   "1", "..", "{",  ",",
        "'",   "--", "_emit_", "return"};
    struct rng r;
    rng_seed(&r, 12);
    for (int round = 0; round < 3000; round++) {
        struct str glsl = {0};
        for (uint64_t n = rng_below(&r, 14); n-- > 0;)
            str_add(&glsl, words[rng_below(&r, sizeof words / sizeof *words)]);
        char message[1400];
        struct source files[] = {
            {"a.lua", OPERATOR PARAM KERNEL}, {"t.comp", str_text(&glsl)}, {NULL, NULL}};
        try_script(files, message, sizeof message);
        if (message[0] && strncmp(message, "t.comp:", 7) != 0)
            fail_msg("%s\ngives: %s", str_text(&glsl), message);
        str_finish(&glsl);
    }
}

TEST_GROUP(render)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_text_code_or_values),
        cmocka_unit_test(numbers_are_glsl),
        cmocka_unit_test(every_line_knows_where_it_comes_from),
        cmocka_unit_test(passes_groups_and_scratch),
        cmocka_unit_test(the_chunk_keeps_lines),
        cmocka_unit_test(parsing_takes_anything),
        cmocka_unit_test(rendering_takes_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
