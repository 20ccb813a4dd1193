// Random kernels of every preset, through Debian's own AMD driver, which opens without any
// hardware: it refuses none, on two generations of chips, and the validation layer says nothing of
// the one where kernels choose their subgroups.
#include "program.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AMD   "/usr/share/vulkan/icd.d/radeon_icd.x86_64.json"
#define LAYER "/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json"

// `validate`: "--validate", or NULL.
static void test_preset(struct box *b, const char *name, const char *validate)
{
    struct result r = RUN(b, "check", name, "--compile", "5", "--json", validate);
    if (r.code == 1 && strstr(r.err, "no matrix units")) // this driver is too old for them
        return;
    if (r.code != 0)
        fail_msg("%s: %s%s", name, r.err, r.out);
    assert_int_equal((int)number_of(json_of(b, r.out), "compiled"), 5);
    assert_int_equal((int)number_of(json_of(b, r.out), "validation_messages"), 0);
}

static void test_every_preset(void **state)
{
    static const char *const chips[] = {"navi21", "vega10"};
    struct box *b = *state;
    int presets = 0;
    if (access(AMD, R_OK) != 0 ||
        getenv("ASAN_OPTIONS")) // such drivers do not bear being sanitized
        skip();
    box_set(b, "VK_DRIVER_FILES", AMD);
    box_set(b, "VK_ICD_FILENAMES", AMD);
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++) {
        box_set(b, "RADV_FORCE_FAMILY", chips[i]);
        DIR *folder = opendir(flow_path(b, "../../presets"));
        assert_non_null(folder);
        for (struct dirent *entry; (entry = readdir(folder));) {
            char *end = strstr(entry->d_name, ".lua");
            if (!end)
                continue;
            *end = '\0';
            test_preset(b, entry->d_name, i == 0 && access(LAYER, R_OK) == 0 ? "--validate" : NULL);
            presets++;
        }
        closedir(folder);
    }
    assert_true(presets > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {FLOW_TEST(test_every_preset)};
    return cmocka_run_group_tests_name("compile presets", tests, NULL, NULL);
}
