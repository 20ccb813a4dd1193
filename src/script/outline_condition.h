// Conditions of #if, and numbers that macros make. For outline.c and outline_code.c.
#ifndef TILEWALK_SCRIPT_OUTLINE_CONDITION_H
#define TILEWALK_SCRIPT_OUTLINE_CONDITION_H

#include "script/outline.h"

#define OUTLINE_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define OUTLINE_WORD    OUTLINE_LETTERS "0123456789"

int outline_find(const struct outline_names *n, const char *text); // -1: it is not there
void outline_add(struct outline *o, struct outline_names *n, const char *text, const char *note);

// Notes that the macro is asked for; whether the files have defined it.
bool outline_asks(struct outline *o, const char *name);
// Notes what is asked for; whether it holds.
bool outline_evaluate(struct outline *o, const char *condition);
// A sum or product of numbers and of macros that are such; false: it is none.
bool outline_number(struct outline *o, const char *text, int64_t *out);

#endif
