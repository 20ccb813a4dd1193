// The lines of a shader, as the scaffold of a space file reads them: without comments, with
// included files in place, and with marks where code begins or ends whose condition does not hold.
//
//     struct scaffold_lines lines;
//     scaffold_read_lines(&o, path, text, folders, count, &lines);    files, macros and conditions
//     str_finish(&lines.text); free(lines.where);
//
// Macros that conditions ask for, and those that the files define, are noted in the scaffold.
#ifndef TILEWALK_SCRIPT_SCAFFOLD_LINES_H
#define TILEWALK_SCRIPT_SCAFFOLD_LINES_H

#include "script/scaffold.h"

#define SCAFFOLD_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define SCAFFOLD_WORD    SCAFFOLD_LETTERS "0123456789"

enum { SCAFFOLD_MOST_BYTES = 1 << 20 }; // of a file

// From the k-th mark on, where[k] is the condition that does not hold; NULL: all hold.
#define SCAFFOLD_MARK '\x01'

struct scaffold_lines {
    struct str text;
    const char **where;
    int marks, capacity;
};

void scaffold_read_lines(struct scaffold *o, const char *path, const char *text,
                         const char *const *folder, int folders, struct scaffold_lines *out);

// Returns the place of a name in a list; -1: it is not there.
int scaffold_find_name(const struct scaffold_names *n, const char *text);
// Adds a name with a note (NULL: none), unless it is there or the list is full. Both are copied.
void scaffold_note(struct scaffold *o, struct scaffold_names *n, const char *text,
                   const char *note);
// Evaluates a sum or product of numbers and of macros that are numbers. -1: it is none, or it does
// not fit 32 bits.
int64_t scaffold_number(struct scaffold *o, const char *text);

#endif
