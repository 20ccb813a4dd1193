// One database and several people: two users of a group work in turn, are killed, and others look.
// Whoever works can go on working, and looking leaves nothing.
#include "campaign.h"

#include "base/file.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GROUP = 4242, FIRST_USER = 2001, STRANGER = 65534 };

static struct {
    uid_t user;
    gid_t group;
} person; // who starts the next program

static void become(const struct box *b)
{
    (void)b;
    umask(002);
    if (setgid(person.group) != 0 || setuid(person.user) != 0)
        _exit(126);
}

static int count_files(const char *folder)
{
    DIR *all = opendir(folder);
    int count = 0;
    for (struct dirent *one; (one = readdir(all));)
        count += one->d_name[0] != '.';
    closedir(all);
    return count;
}

static void look(struct attempt *a, const char *folder, const char *database)
{
    static const char *const ways[][4] = {
        {"ls", NULL}, {"ls", "--json", NULL}, {"show", "1", NULL}, {"show", "1", "--trials", NULL}};
    int before = count_files(folder);
    uint64_t stamp = file_stamp(database, 0);
    person.user = STRANGER;
    person.group = STRANGER;
    struct result r = strike_list(a, PICK(a, ways));
    if (r.code != 0)
        fail_msg("a stranger cannot look: %.300s", r.err);
    if (count_files(folder) != before || file_stamp(database, 0) != stamp)
        fail_msg("looking leaves or changes something");
}

static void work(struct attempt *a)
{
    static const char *const tune[] = {"tune",     "small.lua", "--source", "synthetic:rugged",
                                       "--trials", "40",        "--plain",  NULL};
    note_command(tune);
    struct running *r = start_list(a->box, tune);
    bool ends = below(a, 2);
    if (ends) {
        rest_ms(below(a, 400));
        kill(r->pid, SIGKILL);
    }
    struct result result = finish(a->box, r);
    if (!ends && result.code != 0)
        fail_msg("user %d cannot work: %.300s", (int)person.user, result.err);
}

static void attempt(struct attempt *a)
{
    struct box *b = a->box;
    const char *folder = box_path(b, "lab"), *database = box_path(b, "lab/l.db");
    if (geteuid() != 0) {
        note_context("left out: it takes root to be several people");
        return;
    }
    copy_small(b);
    assert_int_equal(mkdir(folder, 0755), 0);
    assert_int_equal(chown(folder, 0, GROUP), 0);
    assert_int_equal(chmod(folder, below(a, 2) ? 02775 : 03775), 0);
    char *above = path_folder(b->folder); // all have to reach it
    assert_int_equal(chmod(above, 0711), 0);
    assert_int_equal(chmod(b->folder, 0755), 0);
    free(above);
    box_set(b, "TILEWALK_DB", database);
    box_set(b, "HOME", "/nonexistent");
    b->prepare = become;
    person.group = GROUP;
    person.user = FIRST_USER;
    struct result r =
        STRIKE(a, "tune", "small.lua", "--source", "synthetic:rugged", "--trials", "5");
    if (r.code != 0)
        fail_msg("exit code %d: %.300s", r.code, r.err);
    for (int i = 0; i < 6; i++) {
        person.group = GROUP;
        person.user = FIRST_USER + (uid_t)below(a, 2);
        work(a);
        look(a, folder, database);
    }
    b->prepare = NULL;
}

const struct attack attack_people = {
    .name = "people",
    .what = "users of a group on one database, killed, looked at",
    .share = 1,
    .attempt = attempt,
};
