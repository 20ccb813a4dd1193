// Sensors of a device: from a fake NVML library, and from synthetic trees
// of sysfs.
#include "group.h"

#include "base/file.h"
#include "gpu/gpu.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUS "0000:01:00.0"

static const struct gpu_info nvidia = {.vendor_id = 0x10de, .pci = BUS};
static const struct gpu_info amd = {.vendor_id = 0x1002, .pci = BUS};

struct tree {
    char root[64];
};

static int plant(void **state)
{
    static struct tree t;
    snprintf(t.root, sizeof t.root, "/tmp/tilewalk-sensors-XXXXXX");
    assert_non_null(mkdtemp(t.root));
    setenv("TILEWALK_SYSFS", t.root, 1);
    unsetenv("TILEWALK_NVML");
    unsetenv("TILEWALK_FAKE_NVML");
    *state = &t;
    return 0;
}

static int fell(void **state)
{
    char command[128];
    struct tree *t = *state;
    snprintf(command, sizeof command, "rm -rf %s", t->root);
    return system(command);
}

// A file below a folder of the tree, with all folders above it.
static char *write_below(struct tree *t, const char *folder, const char *name, const void *bytes,
                         size_t size)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s/%s", t->root, folder, name);
    for (char *at = path + strlen(t->root) + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = '\0';
        mkdir(path, 0700);
    }
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fwrite(bytes, 1, size, f);
    fclose(f);
    return path;
}

static char *write_bytes(struct tree *t, const char *name, const void *bytes, size_t size)
{
    return write_below(t, "bus/pci/devices/" BUS, name, bytes, size);
}

static char *write_text(struct tree *t, const char *name, const char *text)
{
    return write_bytes(t, name, text, strlen(text));
}

static double number(const struct statistics *s, const char *name)
{
    double value = 0;
    statistics_find(s, name, &value);
    return value;
}

static struct statistics sense(const struct gpu_info *i)
{
    char why[320] = "";
    struct statistics s;
    struct sensors *opened = sensors_open(i, why, sizeof why);
    if (!opened)
        print_message("%s\n", why);
    assert_non_null(opened);
    sensors_read(opened, &s);
    sensors_read(opened, &s);
    sensors_close(opened);
    return s;
}

static void refused(const struct gpu_info *i, const char *part)
{
    char why[320] = "";
    struct statistics s;
    assert_null(sensors_open(i, why, sizeof why));
    if (!strstr(why, part))
        print_message("%s\n", why);
    assert_non_null(strstr(why, part));
    sensors_read(NULL, &s);
    assert_int_equal(s.count, 0);
}

static void nvml_has_numbers(void **state)
{
    (void)state;
    setenv("TILEWALK_NVML", getenv("TILEWALK_TEST_NVML"), 1);
    struct statistics s = sense(&nvidia);
    assert_true(number(&s, "core_mhz") == 1410);
    assert_true(number(&s, "memory_mhz") == 2619);
    assert_true(number(&s, "celsius") == 71);
    assert_true(number(&s, "watts") == 350.5);
    assert_true(number(&s, "throttle_power") == 1);
    assert_true(number(&s, "throttle_temperature") == 1); // by its counter alone
    assert_int_equal(s.count, 6);
}

static void nvml_has_the_share_of_the_highest_clock(void **state)
{
    char why[320];
    (void)state;
    setenv("TILEWALK_NVML", getenv("TILEWALK_TEST_NVML"), 1);
    struct sensors *s = sensors_open(&nvidia, why, sizeof why);
    assert_non_null(s);
    assert_true(sensors_awake(s) == 0.75);
    setenv("TILEWALK_FAKE_NVML", "asleep", 1);
    assert_true(sensors_awake(s) == 0.1);
    unsetenv("TILEWALK_FAKE_NVML");
    sensors_close(s);
    assert_true(isnan(sensors_awake(NULL)));
}

static void nvml_knows_devices_by_their_uuid_too(void **state)
{
    (void)state;
    struct gpu_info elsewhere = {.vendor_id = 0x10de,
                                 .device_uuid = "00112233445566778899aabbccddeeff"};
    setenv("TILEWALK_NVML", getenv("TILEWALK_TEST_NVML"), 1);
    struct statistics s = sense(&elsewhere);
    assert_true(number(&s, "core_mhz") == 1410);
    elsewhere.device_uuid[0] = 'f';
    refused(&elsewhere, "NVML does not know the device");
}

static void nvml_that_is_missing_refuses_or_lies_is_reported(void **state)
{
    (void)state;
    setenv("TILEWALK_NVML", "/nowhere/libnvidia-ml.so.1", 1);
    refused(&nvidia, "NVML cannot be loaded: /nowhere/libnvidia-ml.so.1");
    setenv("TILEWALK_NVML", getenv("TILEWALK_TEST_NO_NVML"), 1);
    refused(&nvidia, "is no NVML that is known here");
    setenv("TILEWALK_NVML", getenv("TILEWALK_TEST_NVML"), 1);
    setenv("TILEWALK_FAKE_NVML", "refuses", 1);
    refused(&nvidia, "NVML does not start: its error 3");
    setenv("TILEWALK_FAKE_NVML", "lies", 1);
    struct statistics s = sense(&nvidia);
    assert_true(number(&s, "core_mhz") == 0);
    assert_true(number(&s, "celsius") == 71);
}

static void amd_has_files_in_sysfs(void **state)
{
    struct tree *t = *state;
    write_text(t, "hwmon/hwmon3/temp1_input", "63000\n");
    write_text(t, "hwmon/hwmon3/power1_average", "203000000\n");
    write_text(t, "pp_dpm_sclk", "0: 500Mhz\n1: 2105Mhz *\n2: 2500Mhz\n");
    write_text(t, "hwmon/hwmon3/freq2_input", "1000000000\n");
    struct statistics s = sense(&amd);
    assert_true(number(&s, "core_mhz") == 2105);
    assert_true(number(&s, "memory_mhz") == 1000);
    assert_true(number(&s, "celsius") == 63);
    assert_true(number(&s, "watts") == 203);
    assert_int_equal(s.count, 4);
    write_text(t, "hwmon/hwmon3/freq1_input", "2301000000\n");
    s = sense(&amd);
    assert_true(number(&s, "core_mhz") == 2301); // what it is, before what was chosen
}

static void amd_reports_reasons_for_throttling(void **state)
{
    static const struct {
        size_t at, size;
        unsigned char format, content;
    } tables[] = {{112, 120, 1, 3}, {120, 128, 2, 2}};
    struct tree *t = *state;
    write_text(t, "hwmon/hwmon0/temp1_input", "40000");
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        unsigned char bytes[128] = {0, 0, tables[i].format, tables[i].content};
        bytes[tables[i].at] = 1 << 1;     // PPT1
        bytes[tables[i].at + 4] = 1 << 4; // hotspot
        write_bytes(t, "gpu_metrics", bytes, tables[i].size);
        struct statistics s = sense(&amd);
        assert_true(number(&s, "throttle_power") == 1);
        assert_true(number(&s, "throttle_temperature") == 1);
        assert_true(number(&s, "throttle_current") == 0);
        write_bytes(t, "gpu_metrics", bytes, tables[i].size - 8); // cut
        s = sense(&amd);
        assert_int_equal(s.count, 1);
    }
}

static void intel_has_files_in_sysfs(void **state)
{
    struct tree *t = *state;
    struct gpu_info intel = {.vendor_id = 0x8086, .pci = BUS};
    write_text(t, "drm/card1/gt_cur_freq_mhz", "1150\n");
    write_text(t, "drm/card1/gt/gt0/throttle_reason_pl1", "1\n");
    write_text(t, "drm/card1/gt/gt0/throttle_reason_thermal", "0\n");
    struct statistics s = sense(&intel);
    assert_true(number(&s, "core_mhz") == 1150);
    assert_true(number(&s, "throttle_power") == 1);
    assert_int_equal(s.count, 2);
    write_text(t, "drm/card1/gt/gt0/rps_act_freq_mhz", "900\n");
    s = sense(&intel);
    assert_true(number(&s, "core_mhz") == 900);
    write_text(t, "tile0/gt0/freq0/throttle/reason_vr_tdc", "1\n"); // xe
    s = sense(&intel);
    assert_true(number(&s, "throttle_current") == 1);
}

static void sysfs_that_refuses_or_lies_is_reported(void **state)
{
    struct tree *t = *state;
    refused(&amd, "has no clock, temperature or power");
    char *path = write_text(t, "hwmon/hwmon0/temp1_input", "40000");
    chmod(path, 0);
    if (geteuid() != 0)
        refused(&amd, "has no clock, temperature or power");
    chmod(path, 0600);
    write_text(t, "hwmon/hwmon0/freq1_input", "99999999999999999");
    write_text(t, "hwmon/hwmon0/power1_average", "no number");
    struct statistics s = sense(&amd);
    assert_int_equal(s.count, 1);
    assert_true(number(&s, "celsius") == 40);
}

static char *write_counter(struct tree *t, const char *name, const char *text)
{
    return write_below(t, "class/powercap", name, text, strlen(text));
}

// The counter of the first package begins anew between the readings.
static void processors_have_counters_of_energy(void **state)
{
    const struct gpu_info cpu = {.is_cpu = true, .vendor_id = 0x10005};
    struct tree *t = *state;
    struct statistics now;
    char why[320];
    write_counter(t, "intel-rapl:0/name", "package-0\n");
    write_counter(t, "intel-rapl:0/max_energy_range_uj", "10000000\n");
    write_counter(t, "intel-rapl:0/energy_uj", "9000000\n");
    write_counter(t, "intel-rapl:1/name", "package-1\n");
    write_counter(t, "intel-rapl:1/energy_uj", "500000\n");
    write_counter(t, "intel-rapl:2/name", "psys\n");
    write_counter(t, "intel-rapl:2/energy_uj", "7000000\n");
    struct sensors *s = sensors_open(&cpu, why, sizeof why);
    assert_non_null(s);
    assert_float_equal(sensors_joules(s), 9.5, 1e-9);
    write_counter(t, "intel-rapl:0/energy_uj", "2000000\n");
    write_counter(t, "intel-rapl:1/energy_uj", "1500000\n");
    assert_float_equal(sensors_joules(s), 13.5, 1e-9);
    sensors_read(s, &now);
    assert_int_equal(now.count, 0);
    sensors_close(s);
    write_counter(t, "intel-rapl:1/name", "dram\n");
    write_counter(t, "intel-rapl:0/energy_uj", "none\n");
    refused(&cpu, "intel-rapl:0/energy_uj");
}

static void others_have_no_sensors(void **state)
{
    (void)state;
    refused(&(struct gpu_info){.is_cpu = true, .vendor_id = 0x10005},
            "not available on CPU devices");
    refused(&(struct gpu_info){.vendor_id = 0x1002}, "VK_EXT_pci_bus_info");
}

TEST_GROUP(sensors)
{
#define SENSORS_TEST(name) cmocka_unit_test_setup_teardown(name, plant, fell)
    const struct CMUnitTest tests[] = {
        SENSORS_TEST(nvml_has_numbers),
        SENSORS_TEST(nvml_has_the_share_of_the_highest_clock),
        SENSORS_TEST(nvml_knows_devices_by_their_uuid_too),
        SENSORS_TEST(nvml_that_is_missing_refuses_or_lies_is_reported),
        SENSORS_TEST(amd_has_files_in_sysfs),
        SENSORS_TEST(amd_reports_reasons_for_throttling),
        SENSORS_TEST(intel_has_files_in_sysfs),
        SENSORS_TEST(sysfs_that_refuses_or_lies_is_reported),
        SENSORS_TEST(processors_have_counters_of_energy),
        SENSORS_TEST(others_have_no_sensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
