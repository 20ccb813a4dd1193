// Vulkan drivers that abort, are none, or hold the loader: what asks for devices ends by itself,
// and what needs none works.
#include "campaign.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RADV "/usr/share/vulkan/icd.d/radeon_icd.x86_64.json"

static const char *const manifests[] = {
    "",
    "{",
    "{\"file_format_version\": \"1.0.0\", \"ICD\": {\"library_path\": \"/nowhere.so\"}}",
    "{\"file_format_version\": \"1.0.0\", \"ICD\": {\"library_path\": \"libc.so.6\","
    " \"api_version\": \"1.3.0\"}}",
    "{\"ICD\": []}",
};
enum { MANIFESTS = sizeof manifests / sizeof *manifests, RADEON = MANIFESTS, PIPE, KINDS };

// A new session of mm1: the dialog, its first field, back over its buttons to the first of them.
static const char keys[] = "imm1\x1b[Z\x1b[Z\x1b[Z\r"
                           "7\x1b"
                           "1q";

static int64_t count(const struct attempt *a)
{
    (void)a;
    return KINDS;
}

static void set_driver(struct attempt *a, int kind)
{
    struct box *b = a->box;
    const char *manifest = box_path(b, "driver.json");
    if (kind == RADEON) { // Mesa's, when it is told that there is a card
        manifest = RADV;
        box_set(b, "RADV_FORCE_FAMILY", "nonsense");
        note_context("RADV_FORCE_FAMILY=nonsense");
    } else if (kind == PIPE) {
        assert_int_equal(mkfifo(manifest, 0644), 0);
        note_context("a manifest that is a pipe");
    } else {
        box_write(b, "driver.json", manifests[kind]);
        note_context(manifests[kind]);
    }
    box_set(b, "VK_ICD_FILENAMES", manifest);
    box_set(b, "VK_DRIVER_FILES", manifest);
}

static void attempt(struct attempt *a)
{
    set_driver(a, (int)a->number);
    STRIKE(a, "devices");
    STRIKE(a, "devices", "--json");
    STRIKE(a, "doctor");
    STRIKE(a, "check", "mm1");
    STRIKE(a, "tune", "mm1", "--trials", "2");
    struct result r = STRIKE(a, "tune", flow_path(a->box, "small.lua"), "--source",
                             "synthetic:rugged", "--trials", "4");
    if (r.code != 0)
        fail_msg("what needs no device does not work: %.300s", r.err);
    strike_keys(a, (const char *const[]){"watch", NULL}, keys, sizeof keys - 1);
}

const struct attack attack_drivers = {
    .name = "drivers",
    .what = "Vulkan drivers that abort, hang or are none",
    .share = 1,
    .count = count,
    .attempt = attempt,
};
