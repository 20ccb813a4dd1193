// Space files and templates that attack who reads them: those of the folder `files`, each against
// the commands that read one. They may be refused or found wanting; they may not take the program
// down, hold it, read what lies elsewhere or forge a screen.
#include "campaign.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECRET     "the words of a file that lies elsewhere"
#define MOST_FILES 500

enum way { CHECK, CHECK_GLSL, CHECK_DEVICE, TUNE_SYNTHETIC, TUNE_DEVICE, WAYS };

static int is_space(const struct dirent *d)
{
    const char *end = strrchr(d->d_name, '.');
    return end && strcmp(end, ".lua") == 0;
}

static int64_t list(const struct attempt *a, struct dirent ***out)
{
    int count = scandir(a->files, out, is_space, alphasort);
    assert_in_range(count, 1, MOST_FILES);
    return count;
}

static int64_t count(const struct attempt *a)
{
    struct dirent **files;
    return list(a, &files) * (a->device ? WAYS : TUNE_DEVICE);
}

static int is_file(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

// A copy of the folder, with what a folder of files cannot hold in a repository.
static const char *make_folder(struct attempt *a)
{
    struct box *b = a->box;
    struct dirent **files;
    const char *folder = box_path(b, "space");
    int n = scandir(a->files, &files, is_file, alphasort);
    assert_int_equal(mkdir(folder, 0755), 0);
    for (int i = 0; i < n; i++)
        copy_file(arena_printf(&b->arena, "%s/%s", a->files, files[i]->d_name),
                  arena_printf(&b->arena, "%s/%s", folder, files[i]->d_name));
    box_write(b, "secret", "// " SECRET "\nerror(\"" SECRET "\")\n");
    assert_int_equal(mkfifo(box_path(b, "space/pipe.lua"), 0644), 0);
    assert_int_equal(mkfifo(box_path(b, "space/pipe.comp"), 0644), 0);
    assert_int_equal(symlink(box_path(b, "secret"), box_path(b, "space/link.lua")), 0);
    assert_int_equal(symlink(box_path(b, "secret"), box_path(b, "space/link.comp")), 0);
    assert_int_equal(symlink(b->folder, box_path(b, "space/elsewhere")), 0);
    return folder;
}

static struct result strike_with(struct attempt *a, enum way way, const char *file)
{
    switch (way) {
    case CHECK: return STRIKE(a, "check", file, "--device", "none");
    case CHECK_GLSL: return STRIKE(a, "check", file, "--device", "none", "--glsl");
    case CHECK_DEVICE: return STRIKE(a, "check", file, "--json");
    case TUNE_SYNTHETIC:
        return STRIKE(a, "tune", file, "--source", "synthetic:rugged", "--trials", "3", "--plain");
    default: return STRIKE(a, "tune", file, "--trials", "2", "--seconds", "5", "--plain");
    }
}

static void must_not_hold(const char *text)
{
    if (strstr(text, SECRET))
        fail_msg("it prints what lies elsewhere: %.300s", text);
}

static void attempt(struct attempt *a)
{
    struct dirent **files;
    int64_t n = list(a, &files);
    const char *folder = make_folder(a);
    const char *file = arena_printf(&a->box->arena, "%s/%s", folder, files[a->number % n]->d_name);
    // The device last: those attempts take longest.
    struct result r = strike_with(a, (enum way)(a->number / n), file);
    must_not_hold(r.out);
    must_not_hold(r.err);
    if (r.code == 1 && !*r.err)
        fail_msg("exit code 1, and it does not say why");
    if (a->number == 0) // a name can forge as well as a text can
        STRIKE(a, "check", box_path(a->box, "\x1b[2J\x1b]0;owned\a\r.lua"));
}

const struct attack attack_files = {
    .name = "files",
    .what = "hostile space files and templates: tests/campaign/files, each with five commands",
    .share = 5,
    .count = count,
    .attempt = attempt,
};
