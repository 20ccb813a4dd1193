#include "cli/on.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "trial/remote.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 64 };
#define BLANKS " \t"

static const char *on_keep(struct on *on, char *word)
{
    on->word = mem_resize(on->word, (size_t)on->words + 1, sizeof *on->word);
    return on->word[on->words++] = word;
}

// A command line that is being built.
struct line {
    const char *word[MOST_WORDS];
    int count;
};

static bool line_add(struct line *l, const char *word)
{
    bool fits = l->count < MOST_WORDS - 1;
    if (fits)
        l->word[l->count++] = word;
    return fits;
}

static const char *const *line_take(struct on *on, const struct line *l)
{
    const char **argv = mem_zero((size_t)l->count + 1, sizeof *argv);
    memcpy(argv, l->word, (size_t)l->count * sizeof *argv);
    on_keep(on, (char *)argv);
    return argv;
}

// --- hosts.conf ---

struct entry {
    const char *address, *program;
};

static char *trim(char *text)
{
    text += strspn(text, BLANKS);
    size_t length = strlen(text);
    while (length && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
    return text;
}

// Parses "NAME = address=... program=... -p 2222", and keeps the entry of `name`. Every line is
// parsed, so that a wrong one is found. `line` is cut up.
static bool read_line(char *line, const char *name, struct entry *h, struct line *l, struct err *e)
{
    struct entry other;
    struct line ignored = {.count = 0};
    char *rest;
    line = trim(line);
    if (!*line || *line == '#')
        return true;
    char *equals = strchr(line, '=');
    if (!equals)
        return err_set(e, "'%s' has no '=' (NAME = address=USER@HOST program=PATH SSH-OPTION...)",
                       line);
    *equals = '\0';
    if (!str_equal(trim(line), name)) {
        h = &other;
        l = &ignored;
    }
    for (char *w = strtok_r(equals + 1, BLANKS, &rest); w; w = strtok_r(NULL, BLANKS, &rest)) {
        if (str_starts(w, "address="))
            h->address = w + strlen("address=");
        else if (str_starts(w, "program="))
            h->program = w + strlen("program=");
        else if (!line_add(l, w))
            return err_set(e, "too many words");
    }
    return true;
}

static bool read_hosts(struct on *on, const char *name, struct entry *h, struct line *l,
                       struct err *e)
{
    char *path = path_user_config("hosts.conf"), *text = NULL;
    struct err why;
    bool ok = !path || !file_exists(path) || file_read(path, &text, NULL, e);
    int number = 1;
    for (char *line = text, *next; ok && line; line = next, number++) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        ok = read_line(line, name, h, l, &why) || err_at(e, path, number, "%s", why.text);
    }
    if (text)
        on_keep(on, text);
    free(path);
    return ok;
}

// --- the places ---

static bool check_word(const char *what, const char *word, struct err *e)
{
    return (word[0] && word[0] != '-') || err_usage(e, "--on: '%s' is no %s", word, what);
}

static void add_machine(struct on *on, const char *name, const struct line *l)
{
    int i = on->machines.count++;
    on->name[i] = name;
    on->command[i] = (struct spawner_command){SPAWNER_CONNECTION, line_take(on, l), NULL};
}

static bool find_place(struct on *on, const char *text, struct err *e)
{
    if (str_equal(text, "local:")) {
        struct line l = {.count = 0};
        line_add(&l, on_keep(on, path_program()));
        line_add(&l, "agent");
        add_machine(on, text, &l);
        return true;
    }
    if (str_starts(text, "ssh:")) {
        const char *name = text + strlen("ssh:");
        struct line l = {.count = 0};
        struct entry h = {.address = name, .program = "tilewalk"};
        // env finds ssh where the user's shell does.
        const char *const begin[] = {"/usr/bin/env", "ssh", "-T", "-o", "BatchMode=yes"};
        for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
            line_add(&l, begin[i]);
        if (!check_word("host", name, e) || !read_hosts(on, name, &h, &l, e) ||
            !check_word("address", h.address, e) || !check_word("program", h.program, e))
            return false;
        bool fits = line_add(&l, "--") && line_add(&l, h.address) && line_add(&l, h.program) &&
                    line_add(&l, "agent");
        add_machine(on, text, &l);
        return fits || err_set(e, "--on ssh:%s: too many words in its entry", name);
    }
    return err_usage(e, "--on '%s' is neither local: nor ssh:HOST", text);
}

// --- a pool ---

bool on_pool_options(const struct arguments *a, struct queue_options *out, struct err *e)
{
    const char *url = arguments_text(a, "pool");
    *out = (struct queue_options){.url = url,
                                  .credentials = arguments_text(a, "credentials"),
                                  .ca = arguments_text(a, "ca"),
                                  .name = "tilewalk",
                                  .patience_s = remote_patience_s()};
    if (!url)
        return err_usage(e, "missing --pool nats://HOST");
    return ((str_starts(url, "nats://") || str_starts(url, "tls://")) && !strpbrk(url, " ,")) ||
           err_usage(e, "--pool '%s' is neither nats://HOST[:PORT] nor tls://HOST[:PORT]", url);
}

static bool find_pool(struct on *on, const struct arguments *a, struct err *e)
{
    struct queue_options o;
    struct line l = {.count = 0};
    if (!on_pool_options(a, &o, e))
        return false;
    const char *const words[] = {on_keep(on, path_program()), "agent", "--pool", o.url};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        line_add(&l, words[i]);
    if (o.credentials)
        line_add(&l, "--credentials"), line_add(&l, o.credentials);
    if (o.ca)
        line_add(&l, "--ca"), line_add(&l, o.ca);
    const char *at = strrchr(o.url, '@'), *host = strstr(o.url, "://") + strlen("://");
    // The name is shown: it has no password.
    char *name = at ? mem_printf("%.*s%s", (int)(host - o.url), o.url, at + 1) : mem_strdup(o.url);
    add_machine(on, on_keep(on, name), &l);
    return true;
}

// --- all places ---

static bool find_places(struct on *on, const char *const *text, int count, struct err *e)
{
    *on = (struct on){.words = 0};
    if (count >= ON_MOST)
        return err_usage(e, "--on: fewer than %d machines", ON_MOST);
    for (int i = 0; i < count; i++)
        if (!find_place(on, text[i], e))
            return false;
    return true;
}

static bool begin_spawner(struct on *on, struct err *e)
{
    struct spawner_options o = {.command = on->command, .count = on->machines.count};
    on->machines.name = on->name;
    on->machines.spawner = o.count ? spawner_create(&o, e) : NULL;
    return on->machines.spawner || !o.count;
}

bool on_begin_all(struct on *on, const struct arguments *a, struct err *e)
{
    const char *text[ON_MOST];
    int count = arguments_list(a, "on", text, ON_MOST);
    if (!find_places(on, text, count, e) || (arguments_text(a, "pool") && !find_pool(on, a, e)))
        return false;
    on->machines.wait_s = arguments_real(a, "wait", 0);
    return begin_spawner(on, e);
}

bool on_begin_pool(struct on *on, const struct arguments *a, struct err *e)
{
    return find_places(on, NULL, 0, e) && find_pool(on, a, e) && begin_spawner(on, e);
}

bool on_begin(struct on *on, const char *const *text, int count, struct err *e)
{
    return find_places(on, text, count, e) && begin_spawner(on, e);
}

const struct remote_machines *on_machines(const struct on *on)
{
    return on->machines.count ? &on->machines : NULL;
}

void on_end(struct on *on)
{
    spawner_destroy(on->machines.spawner);
    for (int i = 0; i < on->words; i++)
        free(on->word[i]);
    free(on->word);
    *on = (struct on){.words = 0};
}
