#include "campaign.h"

#include "patience.h"

#include "base/mem.h"
#include "base/os.h"
#include "base/str.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_AT_ONCE  64
#define STRIDE        7919 // a prime: all attempts of an attack, those that are alike far apart
#define LEFT_BEHIND_S 10   // that orphans get to see that they are alone
#define ATTEMPT_S     900  // an attempt is of many programs, each with a minute

static const struct attack *const attacks[] = {
    &attack_kills,     &attack_workers, &attack_database, &attack_files, &attack_sandbox,
    &attack_compilers, &attack_drivers, &attack_limits,   &attack_keys,  &attack_fleet,
    &attack_imports,   &attack_people,  &attack_memory,   &attack_words, &attack_pool,
    &attack_rights,    &attack_long,
};
enum { ATTACKS = sizeof attacks / sizeof *attacks };

struct tally {
    int64_t tried, lost, count; // count: 0 without end
    double spent_s;
};

struct flying { // an attempt that is being made
    pid_t pid;  // 0: none
    int attack;
    int64_t number;
    int64_t since_ns;
    struct patience patience;
    FILE *log;
};

static struct {
    double minutes;
    uint64_t seed;
    int at_once, only; // only: -1 all
    int64_t number;    // -1: from 0 on
    bool device;
    const char *files;
    char *folder; // what the attacks prepared, a folder each
    struct tally tally[ATTACKS];
    struct flying flying[MOST_AT_ONCE];
} campaign = {.minutes = 10, .only = -1, .number = -1};

// --- in the process of an attempt ---

static const struct attack *current;
static struct attempt attempt;
static bool preparing;

// Whoever still runs below us was left behind by the program: all of ours were waited for.
static void fail_if_left_behind(void)
{
    struct patience p;
    pid_t pid;
    patience_begin(&p, getpid());
    while ((pid = waitpid(-1, NULL, WNOHANG)) >= 0) {
        if (pid == 0 && patience_spent_s(&p) > LEFT_BEHIND_S)
            fail_msg("a process is left behind");
        if (pid == 0)
            rest_ms(5);
    }
}

static void make_attempt(void **state)
{
    attempt.box = *state;
    assert_int_equal(chdir(attempt.box->folder), 0); // what is written anywhere is written there
    if (preparing) {
        current->prepare(&attempt);
    } else {
        current->attempt(&attempt);
    }
    fail_if_left_behind();
}

static int be_attempt(int attack, int64_t number, FILE *log)
{
    const struct CMUnitTest tests[] = {FLOW_TEST(make_attempt)};
    current = attacks[attack];
    preparing = number < 0;
    attempt = (struct attempt){.number = number,
                               .prepared = mem_printf("%s/%s", campaign.folder, current->name),
                               .files = campaign.files,
                               .device = campaign.device};
    rng_seed(&attempt.rng, campaign.seed + (uint64_t)number * 1000 + (uint64_t)attack);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    dup2(fileno(log), STDOUT_FILENO);
    dup2(fileno(log), STDERR_FILENO);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    while (failed && signal_below(&attempt, getpid(), SIGKILL)) // what made it fail may still run
        rest_ms(1);
    return failed;
}

// --- attempts that are being made ---

static void start(struct flying *f, int attack, int64_t number)
{
    *f = (struct flying){
        .attack = attack, .number = number, .since_ns = os_now_ns(), .log = tmpfile()};
    assert_non_null(f->log);
    fflush(NULL);
    f->pid = fork();
    assert_true(f->pid >= 0);
    patience_begin(&f->patience, f->pid);
    if (f->pid == 0)
        exit(be_attempt(attack, number, f->log));
}

// Keeps what follows `mark` in a line that begins with it, without what a terminal would obey.
static void keep(const char *line, const char *mark, char *kept, size_t size)
{
    if (!str_starts(line, mark))
        return;
    snprintf(kept, size, "%.*s", (int)strcspn(line + strlen(mark), "\n"), line + strlen(mark));
    for (; *kept; kept++)
        if ((unsigned char)*kept < ' ' || (unsigned char)*kept >= 127)
            *kept = '?';
}

// Of the log: what it was about, the last command, and what failed first.
static void add_reason(FILE *log, struct str *out)
{
    char line[2000], context[600] = "", command[600] = "", reason[1000] = "";
    rewind(log);
    while (!reason[0] && fgets(line, sizeof line, log)) {
        keep(line, "# ", context, sizeof context);
        keep(line, "$ ", command, sizeof command);
        keep(line, "ERROR: ", reason, sizeof reason);           // fail_msg
        keep(line, "[  ERROR   ] --- ", reason, sizeof reason); // assert
    }
    str_printf(out, "%s%s%s: %s", context, context[0] ? ": " : "", command,
               reason[0] ? reason : "it did not end as it should");
}

static void tell_loss(const struct flying *f)
{
    struct str why = {0};
    const char *name = attacks[f->attack]->name;
    add_reason(f->log, &why);
    if (f->number < 0)
        printf("lost: %s cannot be prepared: %s\n", name, str_text(&why));
    else
        printf("lost: %s %" PRId64 ": %s (again: --seed %" PRIu64 " --only %s --try %" PRId64 ")\n",
               name, f->number, str_text(&why), campaign.seed, name, f->number);
    fflush(stdout);
    str_finish(&why);
}

static void land(struct flying *f, bool survived)
{
    struct tally *t = &campaign.tally[f->attack];
    t->tried += f->number >= 0;
    t->lost += !survived;
    t->spent_s += (double)(os_now_ns() - f->since_ns) / 1e9;
    if (!survived)
        tell_loss(f);
    fclose(f->log);
    f->pid = 0;
}

static void look(struct flying *f)
{
    int status;
    if (!f->pid)
        return;
    if (waitpid(f->pid, &status, WNOHANG) == f->pid) {
        land(f, WIFEXITED(status) && WEXITSTATUS(status) == 0);
    } else if (patience_spent_s(&f->patience) > ATTEMPT_S) {
        while (signal_below(&attempt, f->pid, SIGKILL))
            rest_ms(1);
        kill(f->pid, SIGKILL);
        waitpid(f->pid, NULL, 0);
        land(f, false);
    }
}

// One that is free, once there is one; NULL with `all`: they all are.
static struct flying *wait_for_place(bool all)
{
    for (;;) {
        struct flying *found = NULL;
        int busy = 0;
        for (int i = 0; i < campaign.at_once; i++) {
            struct flying *f = &campaign.flying[i];
            look(f);
            busy += f->pid != 0;
            found = f->pid ? found : f;
        }
        if (all ? !busy : found != NULL)
            return found;
        rest_ms(2);
    }
}

// --- what is tried when ---

static int64_t started[ATTACKS];

static bool is_wanted(int attack)
{
    const struct tally *t = &campaign.tally[attack];
    return (campaign.only < 0 || campaign.only == attack) &&
           (campaign.device || !attacks[attack]->needs_device) &&
           (!t->count || started[attack] < t->count);
}

// The one that has had least of its share; -1: there is nothing more to try.
static int next_attack(void)
{
    int next = -1;
    double least = 0;
    for (int i = 0; i < ATTACKS; i++) {
        // What flies counts as begun, or all would be of the attack whose attempts take longest.
        double used = campaign.tally[i].spent_s;
        for (int k = 0; k < campaign.at_once; k++)
            if (campaign.flying[k].pid && campaign.flying[k].attack == i)
                used += 1 + (double)(os_now_ns() - campaign.flying[k].since_ns) / 1e9;
        used /= attacks[i]->share;
        if (is_wanted(i) && (next < 0 || used < least)) {
            next = i;
            least = used;
        }
    }
    return next;
}

// The shell finds the program in the variable.
static bool ask_for_device(void)
{
    int status = system("\"$TILEWALK_PROGRAM\" devices --json 2>&1 | grep -q '\"default\":[0-9]'");
    bool there = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!there)
        puts("there is no device here: what needs one is left out");
    return there;
}

static void prepare_all(void)
{
    campaign.device = ask_for_device();
    for (int i = 0; i < ATTACKS; i++) {
        struct attempt a = {.files = campaign.files, .device = campaign.device};
        if (attacks[i]->count)
            campaign.tally[i].count = attacks[i]->count(&a);
        if (is_wanted(i) && attacks[i]->prepare)
            start(wait_for_place(false), i, -1);
    }
    wait_for_place(true);
    for (int i = 0; i < ATTACKS; i++) // one without what it needs is lost once, not often
        if (campaign.tally[i].lost)
            campaign.tally[i].count = started[i] = 1;
}

// The n-th attempt of an attack: where there is an end, the seed chooses which come first.
static int64_t number_of_attempt(int attack, int64_t n)
{
    int64_t count = campaign.tally[attack].count;
    return count ? (int64_t)(((uint64_t)n * STRIDE + campaign.seed) % (uint64_t)count) : n;
}

static void run_campaign(void)
{
    int64_t end = os_now_ns() + (int64_t)(campaign.minutes * 60e9);
    prepare_all();
    if (campaign.number >= 0) {
        start(wait_for_place(false), campaign.only, campaign.number);
    } else {
        for (int i; os_now_ns() < end && (i = next_attack()) >= 0;) {
            struct flying *f = wait_for_place(false);
            start(f, i, number_of_attempt(i, started[i]++));
        }
    }
    wait_for_place(true);
}

static bool tell_table(void)
{
    struct tally all = {0};
    printf("\n%-10s %7s %9s %6s\n", "", "tried", "survived", "lost");
    for (int i = 0; i < ATTACKS; i++) {
        const struct tally *t = &campaign.tally[i];
        if (campaign.only >= 0 && campaign.only != i)
            continue;
        printf("%-10s %7" PRId64 " %9" PRId64 " %6" PRId64 "  %s\n", attacks[i]->name, t->tried,
               t->tried - t->lost, t->lost, attacks[i]->what);
        all.tried += t->tried;
        all.lost += t->lost;
    }
    printf("%-10s %7" PRId64 " %9" PRId64 " %6" PRId64 "  seed %" PRIu64 ", %d at once\n", "all",
           all.tried, all.tried - all.lost, all.lost, campaign.seed, campaign.at_once);
    return all.lost == 0 && all.tried > 0;
}

// --- the command line ---

static int usage(FILE *out)
{
    fputs("usage: campaign [--minutes N] [--seed S] [--at-once N] [--only ATTACK [--try N]]\n\n",
          out);
    for (int i = 0; i < ATTACKS; i++)
        fprintf(out, "  %-10s %s\n", attacks[i]->name, attacks[i]->what);
    return 2;
}

static bool find_attack(const char *name)
{
    for (int i = 0; i < ATTACKS; i++)
        if (strcmp(attacks[i]->name, name) == 0)
            campaign.only = i;
    return campaign.only >= 0;
}

static bool take_option(const char *name, const char *value)
{
    int64_t n = 0;
    if (strcmp(name, "--minutes") == 0)
        return str_to_real(value, &campaign.minutes) && campaign.minutes > 0;
    if (strcmp(name, "--only") == 0)
        return find_attack(value);
    if (!str_to_int(value, 0, INT64_MAX, &n))
        return false;
    if (strcmp(name, "--seed") == 0)
        campaign.seed = (uint64_t)n;
    else if (strcmp(name, "--try") == 0)
        campaign.number = n;
    else if (strcmp(name, "--at-once") == 0)
        campaign.at_once = n < MOST_AT_ONCE ? (int)n : MOST_AT_ONCE;
    else
        return false;
    return true;
}

// All that attempts make lies in it, and goes with it.
static void make_folder(void)
{
    const char *base = getenv("TMPDIR");
    campaign.folder = mem_printf("%s/tilewalk-campaign-XXXXXX", base && *base ? base : "/tmp");
    assert_non_null(mkdtemp(campaign.folder));
    setenv("TMPDIR", campaign.folder, 1);
}

int main(int argc, char **argv)
{
    campaign.seed = os_seed() % 1000000;
    campaign.at_once = os_cores();
    campaign.files = getenv("TILEWALK_CAMPAIGN_FILES");
    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return usage(stdout), 0;
    for (int i = 1; i < argc; i += 2)
        if (i + 1 == argc || !take_option(argv[i], argv[i + 1]))
            return usage(stderr);
    if (!campaign.files || !campaign.at_once || (campaign.number >= 0 && campaign.only < 0))
        return usage(stderr);
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("seed %" PRIu64 "\n", campaign.seed);
    make_folder();
    run_campaign();
    bool survived = tell_table();
    remove_folder(campaign.folder);
    free(campaign.folder);
    return survived ? 0 : 1;
}
