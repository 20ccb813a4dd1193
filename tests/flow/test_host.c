// `tilewalk export --as FORM --in DIR`: a patch of another program's file that git applies, of one
// session and of several; files that are not as expected change nothing.
#include "group.h"
#include "sessions.h"

#include "base/file.h"
#include "base/os.h"
#include "base/str.h"

#include <poll.h>
#include <string.h>

#define GIT "/usr/bin/git"

static void git(const char *folder, const char *const *words)
{
    const char *argv[12] = {GIT, "-C", folder};
    struct child c = {0};
    struct err e;
    int status = -1;
    for (int i = 0; words[i]; i++)
        argv[3 + i] = words[i];
    assert_true(os_spawn_kept(&c, argv, &e));
    while (!os_reap(&c, &status))
        poll(NULL, 0, 1);
    os_kill(&c, NULL);
    assert_int_equal(status, 0);
}
#define GIT_IN(folder, ...) git((folder), (const char *const[]){__VA_ARGS__, NULL})

static void make_folder(struct box *b, const char *name)
{
    struct err e;
    assert_true(file_make_folders(box_path(b, name), &e));
}

// A host of lines `setting N = 0`, some of which the space changes, and one that it adds.
static void write_host(struct box *b, const char *name, int lines)
{
    struct str text = {0};
    for (int i = 0; i < lines; i++)
        str_printf(&text, "setting %d = 0\n", i);
    box_write(b, name, str_text(&text));
    str_finish(&text);
}

static void tune_small(struct box *b, const char *edit)
{
    char *small = box_read(b, flow_path(b, "small.lua"));
    copy_small(b);
    const char *file = box_write(
        b, "hosted.lua",
        arena_printf(&b->arena,
                     "%s\nexport('words', function(c) return 'unroll ' .. c.unroll end, { files = "
                     "{ 'old/host.txt', 'conf/host.txt' }, test = 'make check', edit = "
                     "function(lines, c, found)\n%s\nend })\n",
                     small, edit));
    struct result r =
        RUN(b, "tune", file, "--source", "synthetic:bowl", "--trials", "8", "--seed", "5");
    assert_ok(&r);
}

// Changes 8 and 12 (one hunk), adds a line behind 40, and removes 41.
static const char edits[] = "lines[9] = 'setting 8 = ' .. c.unroll\n"
                            "lines[13] = 'setting 12 = 1'\n"
                            "table.insert(lines, 42, 'added for ' .. found.driver)\n"
                            "table.remove(lines, 43)\n"
                            "if c.unroll < 0 then return nil, 'never' end\n"
                            "return lines";

// Exports, lets git apply the patch at `top`, and returns the host's text.
static const char *apply(struct box *b, const char *top, const char *in, const char *host)
{
    struct result r = RUN(b, "export", "1", "--as", "words", "--in", box_path(b, in), "--anyway");
    assert_ok(&r);
    assert_contains(r.out, "make check\n");
    const char *patch = box_write(b, "made.patch", r.out);
    GIT_IN(box_path(b, top), "apply", patch);
    return box_read(b, box_path(b, host));
}

static void assert_edited(const char *text)
{
    assert_contains(text, "setting 7 = 0\nsetting 8 = ");
    assert_contains(text, "12 = 1\n");
    assert_contains(text, "setting 40 = 0\nadded for none\nsetting 42 = 0\n");
    assert_null(strstr(text, "setting 8 = 0\nsetting 9 = 0\nsetting 10 = 0\nsetting 11 = 0\n"
                             "setting 12 = 0\n"));
}

static void is_applied_by_git(void **state)
{
    struct box *b = *state;
    if (!file_exists(GIT))
        skip();
    tune_small(b, edits);
    // A checkout of its own, a folder below one, and a folder without git: each ends differently.
    static const struct {
        const char *top, *in, *host;
        int lines;
    } all[] = {{"one", "one", "one/conf/host.txt", 60},
               {"two", "two/below", "two/below/conf/host.txt", 44},
               {"three", "three", "three/old/host.txt", 43}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char *folder = path_folder(all[i].host);
        make_folder(b, folder);
        free(folder);
        if (i < 2)
            GIT_IN(box_path(b, all[i].top), "init", "-q");
        write_host(b, all[i].host, all[i].lines);
        assert_edited(apply(b, all[i].top, all[i].in, all[i].host));
    }
}

static void refuses(void **state)
{
    struct box *b = *state;
    tune_small(b, "if lines[1] ~= 'setting 0 = 0' then return nil, 'the host has changed' end\n"
                  "if #lines > 50 then return 7 end\n"
                  "return lines");
    make_folder(b, "empty");
    make_folder(b, "changed/conf");
    make_folder(b, "broken/conf");
    box_write(b, "changed/conf/host.txt", "changed\n");
    write_host(b, "broken/conf/host.txt", 60);
    static const struct {
        const char *in, *one, *other;
    } all[] = {{"empty", "no old/host.txt in it", "--in names a checkout"},
               {"nowhere", "no old/host.txt in it", "nowhere"},
               {"changed", "session 1: the host has changed", "--best N"},
               {"broken", "export 'words'", "expected a table, got number"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct result r =
            RUN(b, "export", "1", "--as", "words", "--in", box_path(b, all[i].in), "--anyway");
        assert_refused(&r, 1, all[i].one, all[i].other);
        assert_string_equal(r.out, "");
    }
    struct result r =
        RUN(b, "export", "1", "--as", "words", "--in", box_path(b, "broken"), "--json");
    assert_refused(&r, 2, "--in is", "--json");
    r = RUN(b, "export", "1", "--as", "table", "--out", "x", "--in", box_path(b, "broken"));
    assert_refused(&r, 2, "--in is", "--as FORM");
    assert_string_equal(box_read(b, box_path(b, "changed/conf/host.txt")), "changed\n");
    // A space without a host.
    r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl", "--trials", "2");
    assert_ok(&r);
    r = RUN(b, "export", "2", "--as", "words", "--in", box_path(b, "changed"), "--anyway");
    assert_refused(&r, 1, "session 2", "for 'words'");
}

// --- ggml's host ---

// A host of ours with the structure of ggml's: names of vendors, tuples of two kinds of devices,
// denominators behind them, rows of mul_mat_vec.
static const char ggml_host[] =
    "#define VK_VENDOR_ID_AMD 0x1002\n"
    "#define VK_VENDOR_ID_MESA 0x10005\n"
    "static void load(vk_device & device) {\n"
    "    if (device->coopmat2) {\n"
    "        s_align = 32;\n"
    "    } else {\n"
    "        l_warptile = { 128, 128, 128, 16, w * 2, 64, 2, 4, 4, 1, w };\n"
    "\n"
    "        // chip specific tuning\n"
    "        if (device->architecture == AMD_GCN) {\n"
    "            m_warptile_mmq = { 256, 64, 64, 32, 16, 16, 2, 2, 2, 1, 16 };\n"
    "        } else if (device->vendor_id == VK_VENDOR_ID_INTEL) {\n"
    "            if (device->coopmat_support) {\n"
    "                l_warptile = { 512, 128, 128, 16, w, 32, 2, 4, 2, 1, w };\n"
    "            }\n"
    "        }\n"
    "\n"
    "        m_mmq_wg_denoms = m_wg_denoms = { 64, 64, 1 };\n"
    "        l_align = 128;\n"
    "        s_align =  32;\n"
    "\n"
    "        check();\n"
    "    }\n"
    "    uint32_t rm_stdq = 1;\n"
    "    uint32_t rm_kq = 2;\n"
    "    if (device->vendor_id == VK_VENDOR_ID_AMD) {\n"
    "        rm_kq = 4;\n"
    "    }\n"
    "    uint32_t rm_iq = 2 * rm_kq;\n"
    "}\n";

static void tune_ggml(struct box *b, const char *preset, const char *const *sets,
                      const char *config)
{
    const char *words[24] = {"tune", preset, "--trials", "1", "--seed", "1", "--warm-start"};
    int n = 7;
    words[n++] = box_write(b, "start.json",
                           arena_printf(&b->arena,
                                        "{\"format\":\"tilewalk-start\",\"version\":1,"
                                        "\"configurations\":[{\"configuration\":%s}]}",
                                        config));
    for (int i = 0; sets[i]; i++) {
        words[n++] = "--set";
        words[n++] = sets[i];
    }
    words[n++] = "--set";
    words[n++] = arena_printf(&b->arena, "ggml=%s/ggml", getenv("TILEWALK_FOREIGN"));
    struct result r = run_list(b, words);
    assert_ok(&r);
    assert_contains(r.out, "trials  1  ok 1 ");
}

static void ggml_is_patched(void **state)
{
    struct box *b = *state;
    if (!getenv("TILEWALK_FOREIGN") || !file_exists(GIT)) {
        puts("skipped: TILEWALK_FOREIGN names no folder of shaders, or there is no git");
        skip();
    }
    struct result devices = RUN(b, "devices", "--json");
    if (!strstr(devices.out, "llvmpipe"))
        skip(); // the texts below are of that device
    tune_ggml(b, "ggml-mul-mm", (const char *const[]){"M=64", "N=64", "K=64", NULL},
              "{\"BLOCK_SIZE\":32,\"BM\":32,\"BN\":64,\"WM\":16,\"WN\":32,\"WMITER\":1,\"TM\":4,"
              "\"TN\":2,\"load\":4,\"split_k\":1}");
    tune_ggml(b, "ggml-mul-mat-vec", (const char *const[]){"type=q4_K", NULL},
              "{\"BLOCK_SIZE\":16,\"NUM_ROWS\":4,\"sum\":\"shared\"}");
    make_folder(b, "llama/ggml/src/ggml-vulkan");
    const char *host = "llama/ggml/src/ggml-vulkan/ggml-vulkan.cpp";
    box_write(b, host, ggml_host);
    GIT_IN(box_path(b, "llama"), "init", "-q");
    const char *in = box_path(b, "llama");
    struct result r = RUN(b, "export", "1", "2", "--as", "ggml", "--in", in, "--anyway");
    assert_ok(&r);
    assert_contains(r.out, "test-backend-ops");
    assert_null(strstr(r.out, in)); // no path of this machine
    GIT_IN(in, "apply", box_write(b, "made.patch", r.out));
    const char *now = box_read(b, box_path(b, host));
    static const char condition[] =
        "if (device->vendor_id == VK_VENDOR_ID_MESA && device->driver_id "
        "== vk::DriverId::eMesaLlvmpipe && !device->coopmat_support) {";
    assert_contains(now, arena_printf(&b->arena, "        }\n        %s\n", condition));
    assert_contains(now, "            m_warptile = { 32, 32, 64, 16, 16, 32, 1, 4, 2, 1, 8 };\n"
                         "        }\n\n        m_mmq_wg");
    assert_contains(now,
                    arena_printf(&b->arena, "        s_align =  32;\n        %s\n", condition));
    assert_contains(now, "            m_wg_denoms = { 32, 64, 1 };\n        }\n\n        check();");
    assert_contains(now, arena_printf(&b->arena, "    }\n    %s\n", condition));
    assert_contains(now, "        rm_kq = 4;\n    }\n    uint32_t rm_iq");
    // What is there already, and what cannot be found, is refused.
    r = RUN(b, "export", "1", "--as", "ggml", "--in", in, "--anyway");
    assert_refused(&r, 1, "ggml-vulkan.cpp:17:", "session 1");
    box_write(b, host, "int main(void) { return 0; }\n");
    r = RUN(b, "export", "1", "--as", "ggml", "--in", in, "--anyway");
    assert_refused(&r, 1, "has changed", "not found");
}

TEST_GROUP(host)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(is_applied_by_git),
        FLOW_TEST(refuses),
        FLOW_TEST(ggml_is_patched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
