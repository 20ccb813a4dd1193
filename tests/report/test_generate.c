// Help, manual pages and completions of a small table; the shells, groff and mandoc judge where
// they exist.
#include "cli/generate.h"
#include "cli/manual.h"

#include "base/mem.h"
#include "group.h"
#include "run.h"
#include "script/network.h"
#include "search/strategy.h"
#include "wording.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct option tune_options[] = {
    {"set", OPTION_LIST, "NAME=VALUE", "problem size: [may] be repeated, isn't that \\nice"},
    {"db", OPTION_TEXT, "FILE", "database"},
    {"device", OPTION_TEXT, "DEVICE", "index or part of a name"},
    {"export", OPTION_TEXT, "DIR", "folder"},
    {"strategy", OPTION_TEXT, "STRATEGY[:KEY=VALUE]...", "search"},
    {"as", OPTION_TEXT, "constants|ggml|FORM", "form"},
    {"json", OPTION_FLAG, NULL, "print JSON only"},
    {"inject", OPTION_TEXT, "KIND", "SECRET", 0, 0, true},
    {"help", OPTION_FLAG, NULL, "show this text"},
    {NULL},
};

static const struct command tune = {
    .name = "tune",
    .operands = "PRESET|FILE",
    .help = "search the best configuration: it's a \\long way, so long that the text of this help "
            "takes two lines",
    .options = tune_options,
};
static const struct command hidden = {.name = "secret", .help = "SECRET", .hidden = true};
static const struct command completion = {
    .name = "completion", .operands = "bash|zsh", .help = "'.print a completion script"};
static const struct command ls = {.name = "ls", .help = "list"};
static const struct command rm = {.name = "rm", .operands = "ID...", .help = "remove"};

const struct command *const commands[] = {&tune, &hidden, &completion, &ls, &rm, NULL};

static const struct strategy_kind opevo = {.name = "opevo"}, walk = {.name = "walk"};
const struct strategy_kind *const strategy_kinds[] = {&opevo, &walk, NULL};

char **script_presets(int *count)
{
    char **names = mem_zero(2, sizeof *names);
    names[0] = mem_strdup("gemm");
    names[1] = mem_strdup("mm1");
    *count = 2;
    return names;
}

char **script_foreign_presets(int *count)
{
    *count = 0;
    return NULL;
}

char **network_names(int *count)
{
    char **names = mem_zero(1, sizeof *names);
    names[0] = mem_strdup("alexnet");
    *count = 1;
    return names;
}

// Returns the text that `print` writes to stdout.
static char *captured(void (*print)(void))
{
    char step[4096];
    struct str out = {0};
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stdout);
    int saved = dup(STDOUT_FILENO);
    dup2(fileno(file), STDOUT_FILENO);
    print();
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    rewind(file);
    for (size_t got; (got = fread(step, 1, sizeof step, file)) > 0;)
        str_add_bytes(&out, step, got);
    fclose(file);
    str_add(&out, "");
    return str_take(&out);
}

static void print_tune_help(void)
{
    command_print_help(&tune);
}

static void test_help(void **state)
{
    (void)state;
    char *text = captured(print_tune_help);
    wording_is("report", "generate: help", text);
    free(text);
}

static void test_overview(void **state)
{
    (void)state;
    char *text = captured(command_print_overview);
    wording_is("report", "generate: overview", text);
    assert_null(strstr(text, "SECRET"));
    free(text);
}

static void test_unknown_text(void **state)
{
    (void)state;
    assert_false(generate("csh"));
}

// Makes a text, writes it to `folder`/file and returns the path.
static char *made(void (*make)(struct str *out), const char *folder)
{
    struct str text = {0};
    make(&text);
    assert_null(strstr(str_text(&text), "SECRET"));
    assert_null(strstr(str_text(&text), "secret"));
    assert_null(strstr(str_text(&text), "inject"));
    char *path = write_text(folder, "made", str_text(&text));
    str_finish(&text);
    return path;
}

// Makes a program that lists the sessions, found before others.
static void add_sessions(const char *folder)
{
    run_silently("cd '%s' && mkdir bin && printf '#!/bin/sh\n"
                 "[ \"$*\" = \"completion sessions\" ] && echo 12 && echo 7 && echo 1\n' "
                 ">bin/tilewalk && chmod +x bin/tilewalk",
                 folder);
}

// Checks the words that bash completes, sorted, on one line.
static void check_bash(const char *folder, const char *words, int at, const char *expected)
{
    char *said = run(NULL,
                     "cd '%s' && PATH=$PWD/bin:$PATH bash -c 'source ./made; COMP_WORDS=(%s); "
                     "COMP_CWORD=%d; _tilewalk; "
                     "printf \"%%s\\n\" \"${COMPREPLY[@]}\"' | LC_ALL=C sort | tr '\\n' ' '",
                     folder, words, at);
    assert_string_equal(said, expected);
    free(said);
}

static void test_bash(void **state)
{
    (void)state;
    if (!has_program("bash"))
        skip();
    char *folder = make_folder(), *path = made(generate_bash, folder);
    run_silently("cd '%s' && mkdir mmfolder && touch 'mm file'", folder);
    check_bash(folder, "tilewalk \"\"", 1, "completion ls rm tune ");
    check_bash(folder, "tilewalk tu", 1, "tune ");
    check_bash(folder, "tilewalk tune --d", 2, "--db --device ");
    check_bash(folder, "tilewalk tune m", 2, "made mm file mm1 mmfolder ");
    check_bash(folder, "tilewalk tune --db m", 3, "made mm file mmfolder ");
    check_bash(folder, "tilewalk tune --export m", 3, "mmfolder ");
    check_bash(folder, "tilewalk tune --device m", 3, " ");
    check_bash(folder, "tilewalk tune --json g", 3, "gemm ");
    check_bash(folder, "tilewalk completion z", 2, "zsh ");
    check_bash(folder, "tilewalk ls m", 2, " ");
    check_bash(folder, "tilewalk tune --strategy w", 3, "walk ");
    check_bash(folder, "tilewalk tune --as \"\"", 3, "constants ggml ");
    add_sessions(folder);
    check_bash(folder, "tilewalk rm 1", 2, "1 12 ");
    free(path);
    remove_folder(folder);
}

static void check_fish(const char *folder, const char *line, const char *expected)
{
    char *said = run(NULL,
                     "cd '%s' && PATH=$PWD/bin:$PATH HOME='%s' fish --no-config -c 'source ./made; "
                     "complete -C \"%s\"' "
                     "| LC_ALL=C sort | tr '\\n' ' '",
                     folder, folder, line);
    assert_string_equal(said, expected);
    free(said);
}

static void test_fish(void **state)
{
    (void)state;
    if (!has_program("fish"))
        skip();
    char *folder = make_folder(), *path = made(generate_fish, folder);
    run_silently("cd '%s' && mkdir mmfolder", folder);
    check_fish(folder, "tilewalk l", "ls\tlist ");
    check_fish(folder, "tilewalk tune --set", // fish 4 takes --se for a part of --strategy too
               "--set\tproblem size: [may] be repeated, isn't that \\nice ");
    check_fish(folder, "tilewalk tune mm", "mm1 mmfolder/ ");
    check_fish(folder, "tilewalk tune --device mm", "");
    check_fish(folder, "tilewalk completion ", "bash zsh ");
    check_fish(folder, "tilewalk ls mm", "");
    check_fish(folder, "tilewalk tune --strategy ", "opevo\tsearch walk\tsearch ");
    check_fish(folder, "tilewalk tune --as ", "constants\tform ggml\tform ");
    add_sessions(folder);
    check_fish(folder, "tilewalk rm 1", "1 12 ");
    free(path);
    remove_folder(folder);
}

static void check_zsh(const char *folder, const char *line, const char *expected)
{
    const char *root = getenv("TILEWALK_DATA");
    char *said =
        run(NULL,
            "cd '%s' && PATH=$PWD/bin:$PATH HOME='%s' zsh -f '%s/tests/report/complete.zsh' "
            "'%s' | LC_ALL=C sort -u | tr '\\n' ' '",
            folder, folder, root ? root : ".", line);
    assert_string_equal(said, expected);
    free(said);
}

static void test_zsh(void **state)
{
    (void)state;
    if (!has_program("zsh"))
        skip();
    char *folder = make_folder(), *path = made(generate_zsh, folder);
    run_silently("zsh -n '%s'", path);
    add_sessions(folder);
    run_silently("cd '%s' && mkdir mmfolder", folder);
    check_zsh(folder, "tilewalk tun", "tune ");
    check_zsh(folder, "tilewalk tune mm", "mm1 mmfolder ");
    check_zsh(folder, "tilewalk tune --export m", "mmfolder ");
    check_zsh(folder, "tilewalk tune --strategy w", "walk ");
    check_zsh(folder, "tilewalk tune --as ", "constants ggml ");
    check_zsh(folder, "tilewalk completion z", "zsh ");
    check_zsh(folder, "tilewalk rm 1", "1 12 ");
    free(path);
    remove_folder(folder);
}

static void test_zsh_text(void **state)
{
    struct str text = {0};
    (void)state;
    generate_zsh(&text);
    wording_is("report", "generate: zsh", str_text(&text));
    assert_non_null(strstr(str_text(&text), "'*:bash|zsh:(bash zsh)'"));
    assert_non_null(strstr(str_text(&text), "'--export=[folder]:DIR:_files -/'"));
    str_finish(&text);
}

// All sections that a page of a command has, in their order.
static const char *const sections[] = {"NAME",     "SYNOPSIS", "DESCRIPTION", "OPTIONS",
                                       "EXAMPLES", "FILES",    "ENVIRONMENT", "EXIT STATUS",
                                       "SEE ALSO", "BUGS"};

static void check_sections(const char *page)
{
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        char *head = mem_printf("\n.SH %s\n", sections[i]);
        const char *found = strstr(page, head);
        if (!found)
            fail_msg("no section %s after the ones before it in:\n%s", sections[i], page);
        page = found + 1;
        free(head);
    }
}

static void test_man(void **state)
{
    (void)state;
    struct err e;
    struct str page = {0};
    char *folder = make_folder();
    assert_false(manual_add_page("secret", &page)); // it is hidden
    assert_false(manual_add_page("tun", &page));
    for (size_t i = 0; commands[i]; i++)
        if (!commands[i]->hidden) {
            page.length = 0;
            assert_true(manual_add_page(commands[i]->name, &page));
            check_sections(str_text(&page));
            assert_null(strstr(str_text(&page), "SECRET"));
        }
    assert_true(manual_write_pages(folder, &e));
    char *files = run(NULL, "cd '%s' && ls | tr '\\n' ' '", folder);
    assert_string_equal(files, "tilewalk-completion.1 tilewalk-ls.1 tilewalk-rm.1 tilewalk-tune.1 "
                               "tilewalk.1 ");
    if (has_program("mandoc"))
        run_silently("mandoc -Tlint '%s'/*", folder);
    if (has_program("groff")) {
        run_silently("for page in '%s'/*; do groff -ww -z -man -Tutf8 $page; done", folder);
        char *text = run(NULL, "cat '%s'/*.1 | groff -man -Tascii -P-cbou", folder);
        assert_non_null(strstr(text, "--export DIR"));
        assert_non_null(strstr(text, "isn't that \\nice"));
        assert_non_null(strstr(text, "'.print a completion script."));
        assert_non_null(strstr(text, "SIGTERM"));
        free(text);
    }
    free(files);
    str_finish(&page);
    remove_folder(folder);
}

TEST_GROUP(generate)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_help), cmocka_unit_test(test_overview),
        cmocka_unit_test(test_bash), cmocka_unit_test(test_fish),
        cmocka_unit_test(test_zsh),  cmocka_unit_test(test_zsh_text),
        cmocka_unit_test(test_man),  cmocka_unit_test(test_unknown_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
