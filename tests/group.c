#include "group.h"

#include <stdio.h>
#include <string.h>

static struct test_entry *entries; // in alphabetical order

void test_entry_add(struct test_entry *entry)
{
    struct test_entry **at = &entries;
    while (*at && strcmp((*at)->word, entry->word) < 0)
        at = &(*at)->next;
    entry->next = *at;
    *at = entry;
}

int group_skip(const char *why)
{
    printf("skipped: %s\n", why);
    return 77;
}

static const struct test_entry *find_entry(const char *word)
{
    const struct test_entry *e = entries;
    while (e && strcmp(e->word, word) != 0)
        e = e->next;
    return e;
}

static void list_groups(FILE *out)
{
    for (const struct test_entry *e = entries; e; e = e->next)
        if (e->group)
            fprintf(out, "%s\n", e->word);
}

int main(int argc, char **argv)
{
    const struct test_entry *e = argc > 1 ? find_entry(argv[1]) : NULL;
    if (argc == 1) {
        list_groups(stdout);
        return 0;
    }
    if (e && e->command)
        return e->command(argc, argv);
    if (!e || argc > 3) {
        fprintf(stderr, "usage: %s GROUP [PATTERN], with one of these groups:\n", argv[0]);
        list_groups(stderr);
        return 2;
    }
    if (argc == 3)
        cmocka_set_test_filter(argv[2]);
    return e->group();
}
