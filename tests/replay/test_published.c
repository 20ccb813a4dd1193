// Random search on every recording in the folder that TILEWALK_RECORDINGS names, against its closed
// form.
#include "base/file.h"
#include "group.h"
#include "made.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

static bool is_recording(const char *name)
{
    return strstr(name, ".json") != NULL;
}

static int check_file(const char *folder, const char *name)
{
    struct recording *r;
    struct err e = {0};
    char *path = path_join(folder, name);
    if (!recording_read(path, &r, &e))
        fail_msg("%s", e.text);
    free(path);
    bool has_entries = r->count > 0;
    if (has_entries)
        check_random(r);
    recording_destroy(r);
    return has_entries;
}

static void test_random_is_random(void **state)
{
    const char *folder = getenv("TILEWALK_RECORDINGS");
    int checked = 0;
    (void)state;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (const struct dirent *entry; (entry = readdir(d));)
        if (is_recording(entry->d_name))
            checked += check_file(folder, entry->d_name);
    closedir(d);
    assert_true(checked > 0);
}

TEST_GROUP(published)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_is_random)};
    enum { SKIPPED = 77 };
    if (!getenv("TILEWALK_RECORDINGS")) {
        puts("skipped: TILEWALK_RECORDINGS names no folder of recordings");
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
