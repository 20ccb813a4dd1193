// Space files written inside a test: texts in memory, no files.
//
//     struct source files[] = {{"a.lua", "..."}, {"t.comp", "..."}, {NULL, NULL}};
//     struct script *s = script_from(files, e);
//
// The first text is the space file. `try_script` runs everything that a file can fail in: loading,
// then for the first point judging and rendering, and gives the first error as it would be printed.
#ifndef TILEWALK_TESTS_SCRIPT_HELP_H
#define TILEWALK_TESTS_SCRIPT_HELP_H

#include "script/script.h"

struct source {
    const char *name, *text;
};

#define MAX_SOURCES 20

// The rest of a complete space file; one line, no parameters.
#define OPERATOR "operator.matmul { N = 8, M = 8, K = 8 } "
#define KERNEL   "kernel { template = 't.comp', groups = function() return { 1 } end } "
#define PARAM    "param.p = factors(8, 2) "

struct script *script_from(const struct source *files, struct err *e);
struct script *script_from_with(const struct source *files, const struct setting *set,
                                int set_count, struct err *e);

// The same, where an error fails the test; and of one text, a.lua.
struct script *must_load(const struct source *files);
struct script *must_load_text(const char *lua);

// The message of the first error, "" when there is none. `out` is returned.
char *try_script(const struct source *files, char *out, size_t size);

// The GLSL of the first point's first pass, a heap string; fails the test on any error.
char *render_first(const struct source *files);

#endif
