// Tables as other programs read them (tilewalk_tuned.h): what can be read has what it says, each
// entry is found by its own shape, and its configuration can be asked for any number.
#include "harness.h"

#include "export/reader/tilewalk_tuned.h"

#include <stdbool.h>

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return 0;
}

// Takes the problem of a group apart again. False: its texts have the signs between its members.
static bool members_of(char *signature, struct tilewalk_member m[TILEWALK_MOST_MEMBERS],
                       size_t *count)
{
    *count = 0;
    for (char *at = strchr(signature, '\n'); at; at = strchr(at, '\n')) {
        *at++ = '\0';
        if (*count == TILEWALK_MOST_MEMBERS)
            return false;
        m[*count] = (struct tilewalk_member){.name = at};
        char *equals = strchr(at, '='), *end = strchr(at, '\n');
        if (equals && (!end || equals < end)) {
            *equals = '\0';
            m[*count].word = equals + 1;
        }
        ++*count;
    }
    return true;
}

static void look_up(const struct tilewalk_tuned *t, const struct tilewalk_group *g)
{
    struct tilewalk_member m[TILEWALK_MOST_MEMBERS];
    char signature[TILEWALK_SIGNATURE];
    size_t count;
    must(strlen(g->signature) < sizeof signature, "a signature has its bound");
    memcpy(signature, g->signature, strlen(g->signature) + 1);
    if (!members_of(signature, m, &count))
        return;
    uint32_t sizes = 0;
    for (size_t j = 0; j < count; j++)
        sizes += !m[j].word;
    for (uint32_t i = 0; sizes == g->sizes && i < g->count; i++) {
        const struct tilewalk_entry *x = &t->entry[g->first + i];
        struct tilewalk_device d = {x->device, x->driver, {0}};
        uint32_t size = g->size + i * g->sizes;
        for (size_t j = 0; j < count; j++)
            if (!m[j].word)
                m[j].size = t->size[size++].value;
        struct tilewalk_found near = tilewalk_tuned_find(t, signature, m, count, NULL, "{}");
        struct tilewalk_found own = tilewalk_tuned_find(t, signature, m, count, &d, "{}");
        must(!near.entry || near.distance == 0, "an entry's own shape is in the table");
        must(!own.entry || own.likeness <= TILEWALK_SAME_VENDOR, "no other vendor's is found");
        tilewalk_configuration_number(near.configuration, "a", (int)i, 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tilewalk_tuned t;
    char why[100] = "";
    if (tilewalk_tuned_read(&t, (const char *)data, size, why, sizeof why)) {
        for (uint32_t i = 0; i < t.groups; i++)
            look_up(&t, &t.group[i]);
        tilewalk_tuned_free(&t);
    } else {
        must(why[0] && !strchr(why, '\n'), "there is a line that says why");
    }
    return 0;
}
