#include "harness.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *scratch;

static void remove_scratch(void)
{
    unlink(scratch);
    free(scratch);
}

void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "this does not hold: %s\n", what);
    abort();
}

const char *fuzz_file(const uint8_t *data, size_t size)
{
    if (!scratch) {
        const char *base = getenv("TMPDIR");
        scratch = mem_printf("%s/tilewalk-fuzz-XXXXXX", base ? base : "/tmp");
        int fd = mkstemp(scratch);
        must(fd >= 0, "a file can be made");
        close(fd);
        atexit(remove_scratch);
    }
    FILE *file = fopen(scratch, "wb");
    bool written = file && (!size || fwrite(data, 1, size, file) == size);
    must(written && fclose(file) == 0, "a file can be written");
    return scratch;
}

char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = mem_alloc(size + 1);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}
