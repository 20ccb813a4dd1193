// A table of kernels as a C header that programs compile in and look up with tilewalk_tuned.h
// (export/reader): constants alone, for C99 and C++.
//
//     export_add_c_table(table, "kernels", &text, e);      struct tilewalk_tuned kernels
//
// The table is the text of `export --as table`. What the header has is what the reader makes of it,
// so that both ways find the same; the SPIR-V stays out.
#ifndef TILEWALK_EXPORT_C_TABLE_H
#define TILEWALK_EXPORT_C_TABLE_H

#include "base/err.h"
#include "base/str.h"

// Appends the header. `name` is made an identifier. False: the reader cannot take the table.
bool export_add_c_table(const char *table, const char *name, struct str *out, struct err *e);

#endif
