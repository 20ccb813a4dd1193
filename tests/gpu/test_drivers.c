// The manifests that the loader would read, in folders of the test.
#include "group.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "gpu/gpu.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/tilewalk-drivers-XXXXXX";

// Returns a path in the folder (heap, the caller's).
static char *at(const char *name)
{
    return path_join(folder, name);
}

static void write_manifest(const char *name)
{
    struct err e;
    char *path = at(name), *parent = path_folder(path);
    assert_true(file_make_folders(parent, &e));
    assert_true(file_write(path, "{}", 2, &e));
    free(parent);
    free(path);
}

static void set(const char *variable, const char *names)
{
    struct str value = {0};
    char *rest, *copy = mem_strdup(names);
    for (char *name = strtok_r(copy, ":", &rest); name; name = strtok_r(NULL, ":", &rest))
        str_printf(&value, "%s%s/%s", value.length ? ":" : "", folder, name);
    setenv(variable, str_text(&value), 1);
    str_finish(&value);
    free(copy);
}

static void clear(void)
{
    static const char *const all[] = {"VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES",
                                      "XDG_CONFIG_HOME", "XDG_DATA_HOME"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        unsetenv(all[i]);
    set("HOME", "home");
    set("XDG_CONFIG_DIRS", "xdg1:xdg2");
    set("XDG_DATA_DIRS", "share");
}

// Returns the names in the test's folder, joined by blanks; /etc may have others.
static void assert_found(const char *expected)
{
    struct str found = {0};
    int count;
    char **file = gpu_driver_files(&count);
    for (int i = 0; i < count; i++) {
        if (str_starts(file[i], folder))
            str_printf(&found, "%s%s", found.length ? " " : "", file[i] + strlen(folder) + 1);
        free(file[i]);
    }
    free(file);
    assert_string_equal(str_text(&found), expected);
    str_finish(&found);
}

static void standard_folders_in_their_order(void **state)
{
    (void)state;
    clear();
    assert_found("home/.config/vulkan/icd.d/a.json xdg1/vulkan/icd.d/b.json "
                 "xdg2/vulkan/icd.d/c.json home/.local/share/vulkan/icd.d/d.json "
                 "share/vulkan/icd.d/e.json");
    set("XDG_CONFIG_HOME", "other");
    set("XDG_DATA_HOME", "nowhere");
    assert_found("other/vulkan/icd.d/f.json xdg1/vulkan/icd.d/b.json xdg2/vulkan/icd.d/c.json "
                 "share/vulkan/icd.d/e.json");
}

static void added_ones_come_first(void **state)
{
    (void)state;
    clear();
    set("XDG_CONFIG_DIRS", "nowhere");
    set("VK_ADD_DRIVER_FILES", "more:xdg2/vulkan/icd.d/c.json");
    assert_found("more/g.json xdg2/vulkan/icd.d/c.json home/.config/vulkan/icd.d/a.json "
                 "home/.local/share/vulkan/icd.d/d.json share/vulkan/icd.d/e.json");
}

static void named_ones_are_all(void **state)
{
    (void)state;
    clear();
    set("VK_ADD_DRIVER_FILES", "more");
    set("VK_ICD_FILENAMES", "more/g.json:not/there.json");
    assert_found("more/g.json not/there.json");
    set("VK_DRIVER_FILES", "share/vulkan/icd.d");
    assert_found("share/vulkan/icd.d/e.json");
    gpu_use_drivers("/x.json");
    assert_string_equal(getenv("VK_DRIVER_FILES"), "/x.json");
    assert_string_equal(getenv("VK_ICD_FILENAMES"), "/x.json");
    assert_found("");
}

static int setup(void **state)
{
    static const char *const files[] = {"home/.config/vulkan/icd.d/a.json",
                                        "xdg1/vulkan/icd.d/b.json",
                                        "xdg2/vulkan/icd.d/c.json",
                                        "xdg2/vulkan/icd.d/no_manifest.txt",
                                        "home/.local/share/vulkan/icd.d/d.json",
                                        "share/vulkan/icd.d/e.json",
                                        "other/vulkan/icd.d/f.json",
                                        "more/g.json"};
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        write_manifest(files[i]);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char *command = mem_printf("rm -r %s", folder);
    int status = system(command);
    free(command);
    return status;
}

TEST_GROUP(drivers)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(standard_folders_in_their_order),
        cmocka_unit_test(added_ones_come_first),
        cmocka_unit_test(named_ones_are_all),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
