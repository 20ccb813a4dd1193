// A compiler of the user's: glslangValidator or glslc, newer than the glslang that is built in,
// say. Named by TILEWALK_GLSLANG (--glslang sets it). A process per shader, which nobody waits for
// for ever, and with which all ends that it started.
#ifndef TILEWALK_KERNEL_EXTERNAL_H
#define TILEWALK_KERNEL_EXTERNAL_H

#include "base/err.h"
#include "base/str.h"
#include "kernel/kernel.h"

// The program's path; NULL: none is named.
const char *external_program(void);

// False only when it cannot be run at all, does not end within a minute, or left no module and no
// word: then `e` says so. Else `log` has what it wrote, and `out` the module, or nothing when the
// shader is wrong.
bool external_compile(const char *program, const char *glsl, struct spirv *out, struct str *log,
                      struct err *e);

enum { EXTERNAL_VERSION_S = 10 };

// Returns the first line that the program prints for --version (heap, the caller's), NULL and `e`
// when it prints none or does not end within so many seconds (EXTERNAL_VERSION_S is the usual).
char *external_version(const char *program, int seconds, struct err *e);

#endif
