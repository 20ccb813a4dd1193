#include "cli/on.h"

#include "base/err.h"
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
    const char *credentials, *ca, *wait; // NULL: not given
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
    struct entry other = {NULL};
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
        const struct {
            const char *word, **out;
        } known[] = {{"address=", &h->address},
                     {"program=", &h->program},
                     {"credentials=", &h->credentials},
                     {"ca=", &h->ca},
                     {"wait=", &h->wait}};
        size_t k = 0, count = sizeof known / sizeof *known;
        while (k < count && !str_starts(w, known[k].word))
            k++;
        if (k < count)
            *known[k].out = w + strlen(known[k].word);
        else if (!line_add(l, w))
            return err_set(e, "too many words");
    }
    double s;
    return !h->wait || (str_to_real(h->wait, &s) && s > 0) ||
           err_set(e, "wait=%s: expected seconds above 0", h->wait);
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
    double s;
    if (ok && h->wait && str_to_real(h->wait, &s) && s > on->machines.wait_s)
        on->machines.wait_s = s;
    return ok;
}

// --- the places ---

static bool check_word(const char *what, const char *word, struct err *e)
{
    return (word[0] && word[0] != '-') || err_usage(e, "--on: '%s' is no %s", word, what);
}

bool on_is_pool(const char *text)
{
    return str_starts(text, "nats://") || str_starts(text, "tls://");
}

bool on_pool_options(struct on *on, const struct arguments *a, const char *url,
                     struct queue_options *out, struct err *e)
{
    struct entry h = {NULL};
    struct line ignored = {.count = 0};
    const char *credentials = arguments_text(a, "credentials"), *ca = arguments_text(a, "ca");
    if (!url)
        return err_usage(e, "missing the server of the pool: nats://HOST");
    if (!on_is_pool(url) || strpbrk(url, " ,"))
        return err_usage(e, "'%s' is neither nats://HOST[:PORT] nor tls://HOST[:PORT]", url);
    if (!read_hosts(on, url, &h, &ignored, e))
        return false;
    *out = (struct queue_options){.url = url,
                                  .credentials = credentials ? credentials : h.credentials,
                                  .ca = ca ? ca : h.ca,
                                  .name = "tilewalk",
                                  .patience_s = remote_patience_s()};
    return true;
}

// Names the server without the user and the password of its URL.
static char *name_of_server(const char *url)
{
    const char *at = strrchr(url, '@'), *host = strstr(url, "://") + strlen("://");
    return at ? mem_printf("%.*s%s", (int)(host - url), url, at + 1) : mem_strdup(url);
}

void on_warn_of_pool(const struct queue_options *o)
{
    char *name = name_of_server(o->url);
    const char *host = strstr(name, "://") + strlen("://");
    bool is_here =
        str_starts(host, "localhost") || str_starts(host, "127.") || str_starts(host, "[::1]");
    bool is_open = !o->credentials && !strchr(o->url, '@');
    bool is_plain = !is_here && !str_starts(o->url, "tls://");
    if (is_open || is_plain)
        log_warning("%s: %s%s%s (docs/guide/fleet.md: Who may do what)", name,
                    is_open ? "there are no credentials, so that anybody may give results" : "",
                    is_open && is_plain ? ", and " : "",
                    is_plain ? "there is no TLS, so that the network reads and changes them" : "");
    free(name);
}

static void add_machine(struct on *on, const char *name, const struct line *l)
{
    int i = on->machines.count++;
    on->name[i] = name;
    on->command[i] = (struct spawner_command){SPAWNER_CONNECTION, line_take(on, l), NULL};
}

static bool find_place(struct on *on, const struct arguments *a, const char *text, struct err *e)
{
    if (on_is_pool(text)) {
        struct queue_options o;
        struct line l = {.count = 0};
        if (!on_pool_options(on, a, text, &o, e))
            return false;
        const char *const words[] = {on_keep(on, path_program()), "agent", "--pool", o.url};
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            line_add(&l, words[i]);
        if (o.credentials)
            line_add(&l, "--credentials"), line_add(&l, o.credentials);
        if (o.ca)
            line_add(&l, "--ca"), line_add(&l, o.ca);
        on_warn_of_pool(&o);
        add_machine(on, on_keep(on, name_of_server(o.url)), &l);
        return true;
    }
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
    if (str_starts(text, REMOTE_EXEC)) {
        const char *command = text + strlen(REMOTE_EXEC);
        const struct line l = {.word = {"/bin/sh", "-c", command}, .count = 3};
        if (!command[strspn(command, BLANKS)] || strpbrk(command, "\n\r"))
            return err_usage(e, "--on exec: needs a command, in one line");
        add_machine(on, text, &l);
        return true;
    }
    return err_usage(e, "--on '%s' is none of local:, ssh:HOST, nats://HOST and exec:'COMMAND'",
                     text);
}

bool on_begin(struct on *on, const struct arguments *a, const char *const *text, int count,
              struct err *e)
{
    *on = (struct on){.words = 0};
    if (count >= ON_MOST)
        return err_usage(e, "--on: fewer than %d machines", ON_MOST);
    for (int i = 0; i < count; i++)
        if (!find_place(on, a, text[i], e))
            return false;
    struct spawner_options o = {.command = on->command, .count = on->machines.count};
    on->machines.name = on->name;
    on->machines.wait_s = arguments_real(a, "wait", on->machines.wait_s);
    on->machines.spawner = o.count ? spawner_create(&o, e) : NULL;
    return on->machines.spawner || !o.count;
}

bool on_begin_all(struct on *on, const struct arguments *a, struct err *e)
{
    const char *text[ON_MOST];
    return on_begin(on, a, text, arguments_list(a, "on", text, ON_MOST), e);
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
