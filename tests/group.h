// A test program holds the tests of one folder, a group for each file:
//
//     test_search                      lists the groups
//     test_search opevo                runs the group opevo, the tests of test_opevo.c
//     test_search opevo '*parents*'    runs those of its tests whose names match (* as in a shell)
//
// Each file ends with its group, which returns an exit status: 0, the number of tests that failed,
// or 77 where nothing could be tested. TEST_COMMAND is what the program does instead when a test
// starts it as a child, with `said` as the first argument.
//
//     TEST_GROUP(opevo)
//     {
//         const struct CMUnitTest tests[] = {cmocka_unit_test(weights_parents)};
//         return cmocka_run_group_tests(tests, NULL, NULL);
//     }
//
//     TEST_COMMAND(play, "child")
//     {
//         return argc == 3 ? play(argv[2]) : 2; // argv[1] is "child"
//     }
#ifndef TILEWALK_TESTS_GROUP_H
#define TILEWALK_TESTS_GROUP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct test_entry {
    const char *word;
    int (*group)(void); // NULL: it is a command
    int (*command)(int argc, char **argv);
    struct test_entry *next;
};

// Says why nothing can be tested, and returns the exit status of that.
int group_skip(const char *why);

// Called before main by the macros below. Keeps the entry.
void test_entry_add(struct test_entry *entry);

#define TEST_ENTRY(id, ...)                                                                        \
    __attribute__((constructor)) static void add_##id(void)                                        \
    {                                                                                              \
        static struct test_entry entry = {__VA_ARGS__};                                            \
        test_entry_add(&entry);                                                                    \
    }

#define TEST_GROUP(name)                                                                           \
    static int group_##name(void);                                                                 \
    TEST_ENTRY(name, .word = #name, .group = group_##name)                                         \
    static int group_##name(void)

#define TEST_COMMAND(name, said)                                                                   \
    static int command_##name(int argc, char **argv);                                              \
    TEST_ENTRY(name, .word = (said), .command = command_##name)                                    \
    static int command_##name(int argc, char **argv)

#endif
