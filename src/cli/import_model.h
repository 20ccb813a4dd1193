// `import MODEL`: a model or a log of another program, as a network file.
#ifndef TILEWALK_CLI_IMPORT_MODEL_H
#define TILEWALK_CLI_IMPORT_MODEL_H

#include "cli/command.h"
#include "import/import.h"

// Says what it holds; writes the file of --out, that check takes, where there is one.
bool import_model(const struct arguments *a, const char *path, const struct import_format *f,
                  struct err *e);

#endif
