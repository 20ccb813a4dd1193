// The user's own compiler: glslangValidator or glslc, for example a newer one than the built-in
// glslang. TILEWALK_GLSLANG names it (--glslang sets it). Each shader has a process, with a
// timeout; everything that it started ends with it.
#ifndef TILEWALK_KERNEL_EXTERNAL_H
#define TILEWALK_KERNEL_EXTERNAL_H

#include "base/err.h"
#include "base/str.h"
#include "kernel/kernel.h"

// Returns the path of the user's compiler; NULL: none is named.
const char *external_program(void);

// Compiles a shader for SPIR-V 1.`minor` (from 3 on): `log` gets the program's output, and `out`
// the module, or nothing when the shader is wrong. False and `e` only when the program cannot be
// run, does not end within so many seconds, or left neither a module nor a message.
bool external_compile(const char *glsl, uint32_t minor, int seconds, struct spirv *out,
                      struct str *log, struct err *e);

enum {
    EXTERNAL_COMPILE_S = 60, // a shader of a candidate; workers have less
    EXTERNAL_VERSION_S = 10  // the version, and what the compiler knows
};

// Returns the first line that the program prints for --version (heap, the caller's), NULL and `e`
// when it prints none or does not end within so many seconds (EXTERNAL_VERSION_S is the usual).
char *external_version(const char *program, int seconds, struct err *e);

#endif
