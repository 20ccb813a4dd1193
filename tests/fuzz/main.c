// The corpus as a test: fuzz_NAME FOLDER gives each of its files to the harness once.
#include "harness.h"

#include "base/file.h"
#include "base/mem.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Its name is said first, so that it is known when the harness dies.
static void try_file(const char *folder, const char *name)
{
    struct err e;
    char *bytes, *path = path_join(folder, name);
    size_t size;
    printf("%s\n", name);
    fflush(stdout);
    must(file_read(path, &bytes, &size, &e), path);
    LLVMFuzzerTestOneInput((const uint8_t *)bytes, size);
    free(bytes);
    free(path);
}

static int is_visible(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

int main(int argc, char **argv)
{
    struct dirent **list;
    const char *folder = argc == 2 ? argv[1] : ".";
    int count = scandir(folder, &list, is_visible, alphasort);
    LLVMFuzzerInitialize(&argc, &argv);
    must(count > 0, "the corpus has files");
    for (int i = 0; i < count; i++) {
        try_file(folder, list[i]->d_name);
        free(list[i]);
    }
    free(list);
    return 0;
}
