// ask_tuned FILE: looks up what stands on standard input, a problem and a device a line, in the
// table of FILE and in the same table compiled in; prints what was found. C99 and C++.
#include <stdio.h>
#include <stdlib.h>

static int allocations;

static void *counted_malloc(size_t bytes)
{
    allocations++;
    return malloc(bytes);
}

static void *counted_calloc(size_t count, size_t bytes)
{
    allocations++;
    return calloc(count, bytes);
}

static void *counted_realloc(void *old, size_t bytes)
{
    allocations++;
    return realloc(old, bytes);
}

#define malloc  counted_malloc
#define calloc  counted_calloc
#define realloc counted_realloc
#include TABLE

static char text[1 << 20];

// Splits a line at its bars; returns how many parts there are.
static int split(char *line, char *part[24])
{
    int count = 0;
    line[strcspn(line, "\n")] = '\0';
    for (part[count++] = line; (line = strchr(line, '|')) != NULL && count < 24;) {
        *line++ = '\0';
        part[count++] = line;
    }
    return count;
}

static void print(const struct tilewalk_found *f)
{
    printf("%s %d %lld %lld\n", f->entry ? f->entry->identity : "-", (int)f->likeness,
           (long long)f->distance,
           (long long)tilewalk_configuration_number(f->configuration, "tile", 0, -1));
}

int main(int argc, char **argv)
{
    struct tilewalk_tuned read;
    char why[160], line[512], *part[24];
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    size_t length = file ? fread(text, 1, sizeof text, file) : 0;
    int before, different = 0;
    if (!file || !tilewalk_tuned_read(&read, text, length, why, sizeof why)) {
        printf("%s\n", file ? why : "no such file");
        return 1;
    }
    fclose(file);
    before = allocations;
    while (fgets(line, sizeof line, stdin) && split(line, part) >= 15) {
        struct tilewalk_device d;
        struct tilewalk_member m[5];
        struct tilewalk_found a, b;
        uint32_t *number = &d.limits.invocations;
        int i, scales = part[14][0] != '\0';
        memset(m, 0, sizeof m);
        d.name = part[0];
        d.driver = part[1];
        for (i = 0; i < 8; i++) // the limits follow each other
            number[i] = (uint32_t)strtoul(part[2 + i], NULL, 10);
        m[0].name = "type", m[0].word = part[10];
        for (i = 0; i < 3; i++) {
            static const char *const names[] = {"K", "N", "M"};
            m[1 + i].name = names[i];
            m[1 + i].size = strtol(part[11 + i], NULL, 10);
        }
        m[4].name = "scale", m[4].word = part[14];
        a = tilewalk_tuned_find(&read, "matmul", m, 4 + (size_t)scales, d.name[0] ? &d : NULL,
                                "{\"tile\": [-2]}");
        b = tilewalk_tuned_find(&made_up, "matmul", m, 4 + (size_t)scales, d.name[0] ? &d : NULL,
                                "{\"tile\": [-2]}");
        different += a.distance != b.distance || strcmp(a.configuration, b.configuration) != 0;
        print(&a);
    }
    if (different || allocations != before)
        printf("%d differ from the table compiled in; %d allocations\n", different,
               allocations - before);
    tilewalk_tuned_free(&read);
    return different || allocations != before;
}
