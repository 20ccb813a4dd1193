// Words of others that come into files for others: titles, devices, drivers and recordings in
// cards, tables and exports. They are shown as text, make no link or picture of their own, name no
// file outside, and tell nobody where the user's files lie.
#include "campaign.h"

#include "base/str.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[] = {
    "<img src=x onerror=alert(1)>",
    "![seen](http://127.0.0.1/seen.png)",
    "[click](javascript:alert(1))",
    "| a | b |",
    "`code` **bold**",
    "../../../tmp/owned",
    "-rf $(touch owned) ;x",
    "a\nb",
    "<script>alert(1)</script>",
};

static const char *const columns[] = {"title", "device", "driver", "name"};

// Names of files are of letters, digits, '.', '_' and '-'.
static void must_be_plain(const char *folder)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    DIR *all = opendir(folder);
    if (!all)
        return;
    for (struct dirent *one; (one = readdir(all));)
        if (one->d_name[strspn(one->d_name, plain)])
            fail_msg("a file is named '%s'", one->d_name);
    closedir(all);
}

static void must_be_text(struct attempt *a, const char *folder)
{
    DIR *all = opendir(folder);
    if (!all)
        return;
    for (struct dirent *one; (one = readdir(all));) {
        const char *end = strrchr(one->d_name, '.');
        if (!end || strcmp(end, ".md") != 0)
            continue;
        const char *text =
            box_read(a->box, arena_printf(&a->box->arena, "%s/%s", folder, one->d_name));
        if (strstr(text, "<img") || strstr(text, "<script") || strstr(text, "![seen]") ||
            strstr(text, "[click]("))
            fail_msg("Markdown takes it for more than text");
        if (strstr(text, a->box->folder))
            fail_msg("a path of the user's stands in it");
    }
    closedir(all);
}

static void attempt(struct attempt *a)
{
    struct box *b = a->box;
    const char *column = PICK(a, columns), *word = PICK(a, words);
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:rugged",
                          "--trials", "5", "--plain");
    assert_ok(&r);
    note_context(arena_printf(&b->arena, "%s is %s", column, word));
    struct str sql = {0};
    str_printf(&sql, "UPDATE session SET %s = '", column);
    for (const char *at = word; *at; at++)
        str_printf(&sql, "%s%c", *at == '\'' ? "'" : "", *at);
    str_add(&sql, "'");
    tamper(b, str_text(&sql));
    str_finish(&sql);
    STRIKE(a, "card", "1", "--out", "cards");
    STRIKE(a, "compare", "1", "--markdown");
    STRIKE(a, "export", "1", "--out", "files");
    STRIKE(a, "export", "1", "--recording", "--out", "files");
    must_be_plain("cards");
    must_be_plain("files");
    must_be_text(a, "cards");
    must_be_text(a, "files");
}

const struct attack attack_words = {
    .name = "words",
    .what = "titles and names of others in cards and exports",
    .share = 1,
    .attempt = attempt,
};
