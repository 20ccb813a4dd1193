// Others that use a card: by made-up trees of /proc, and by a fake NVML library.
#include "group.h"

#include "gpu/gpu.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CARD  "0000:03:00.0"
#define OTHER "0000:04:00.0"

static char root[64];

static int plant(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/tilewalk-users-XXXXXX");
    assert_non_null(mkdtemp(root));
    setenv("TILEWALK_PROC", root, 1);
    return 0;
}

static int fell(void **state)
{
    char command[128];
    (void)state;
    unsetenv("TILEWALK_PROC");
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

static void write_file(int pid, const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%d/%s", root, pid, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void add_process(int pid, const char *name)
{
    static const char *const folders[] = {"", "/fd", "/fdinfo"};
    char path[200];
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/%d%s", root, pid, folders[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    write_file(pid, "comm", name);
}

static void open_card(int pid, int fd, const char *device, const char *card)
{
    char path[200], name[40], text[200];
    snprintf(path, sizeof path, "%s/%d/fd/%d", root, pid, fd);
    assert_int_equal(symlink(device, path), 0);
    snprintf(name, sizeof name, "fdinfo/%d", fd);
    snprintf(text, sizeof text, "pos:\t0\nflags:\t02100002\ndrm-driver:\tamdgpu\n%s%s%s",
             card ? "drm-pdev:\t" : "", card ? card : "", card ? "\ndrm-client-id:\t7\n" : "");
    write_file(pid, name, text);
}

static void assert_named(const char *card, const char *names)
{
    char text[200] = "", *list = card_users_read();
    assert_int_equal(card_users_name(list, card, text, sizeof text), names != NULL);
    if (names)
        assert_string_equal(text, names);
    free(list);
}

static void users_are_named(void **state)
{
    (void)state;
    assert_named(CARD, NULL);
    add_process(200, "Xorg\n");
    open_card(200, 5, "/dev/dri/card0", CARD);
    open_card(200, 6, "/dev/dri/renderD128", CARD); // once
    open_card(200, 7, "/dev/dri/card1", OTHER);
    add_process(300, "python3\n");
    open_card(300, 0, "/dev/null", CARD); // is not looked at
    open_card(300, 3, "/dev/dri/renderD128", NULL);
    assert_named(CARD, "Xorg (200)");
    assert_named(OTHER, "Xorg (200)");
    assert_named("0000:03:00", NULL);
    assert_named("", NULL); // a device without an address
    write_file(300, "fdinfo/3", "drm-pdev: " OTHER);
    char text[200], *list = card_users_read();
    assert_true(card_users_name(list, OTHER, text, sizeof text));
    assert_non_null(strstr(text, "Xorg (200)"));
    assert_non_null(strstr(text, "python3 (300)"));
    free(list);
}

static void this_process_is_none(void **state)
{
    (void)state;
    add_process(getpid(), "tests\n");
    open_card(getpid(), 5, "/dev/dri/card0", CARD);
    assert_named(CARD, NULL);
}

// Their names are chosen by them, and there may be many.
static void names_are_bounded(void **state)
{
    (void)state;
    add_process(200, "\x1b]0;x\x07\n" CARD " y");
    open_card(200, 5, "/dev/dri/card0", CARD);
    assert_named(CARD, "?]0;x? (200)");
    for (int pid = 300; pid < 309; pid++) {
        add_process(pid, "one\n");
        open_card(pid, 5, "/dev/dri/card0", CARD);
    }
    char text[200], small[8], *list = card_users_read();
    assert_true(card_users_name(list, CARD, text, sizeof text));
    assert_non_null(strstr(text, ") and 6 more"));
    assert_true(card_users_name(list, CARD, small, sizeof small));
    assert_int_equal(strlen(small), sizeof small - 1);
    free(list);
}

static void nvml_knows_users(void **state)
{
    const struct gpu_info card = {.vendor_id = 0x10de, .pci = "0000:01:00.0"};
    char text[320];
    (void)state;
    setenv("TILEWALK_NVML", getenv("TILEWALK_TEST_NVML"), 1);
    struct sensors *s = sensors_open(&card, text, sizeof text);
    assert_non_null(s);
    assert_false(sensors_users(s, text, sizeof text));
    setenv("TILEWALK_FAKE_NVML", "shared", 1);
    add_process(4242, "python3\n");
    write_file(4242, "stat", "4242 (python3) R 1 4242");
    assert_true(sensors_users(s, text, sizeof text));
    assert_string_equal(text, "python3 (4242)");
    char line[64];
    snprintf(line, sizeof line, "4242 (a ) b) R %d 4242", (int)getppid());
    write_file(4242, "stat", line); // started by who started us
    assert_false(sensors_users(s, text, sizeof text));
    sensors_close(s);
    assert_false(sensors_users(NULL, text, sizeof text));
    unsetenv("TILEWALK_FAKE_NVML");
    unsetenv("TILEWALK_NVML");
}

#define USERS_TEST(test) cmocka_unit_test_setup_teardown(test, plant, fell)

TEST_GROUP(users)
{
    const struct CMUnitTest tests[] = {
        USERS_TEST(users_are_named),
        USERS_TEST(this_process_is_none),
        USERS_TEST(names_are_bounded),
        USERS_TEST(nvml_knows_users),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
