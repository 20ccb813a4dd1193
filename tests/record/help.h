// The fixture of the tests of recordings: files in one folder that is removed with the test.
//
//     struct recording *r = must_read("x.json", "{...}");
//     const struct record_entry *entry = entry_at(r, "16,1");    by the values' positions
//     refuse("{...}", "x.json:3: parameter 'a' is missing");
#ifndef TILEWALK_TESTS_RECORD_HELP_H
#define TILEWALK_TESTS_RECORD_HELP_H

#include "record/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

int make_folder(void **state); // set-up and tear-down of a group
int remove_folder(void **state);
const char *put_file(const char *name, const void *bytes,
                     size_t length); // its path, until the next

struct recording *must_read(const char *name, const char *text);
// Checks that the message starts with `expected`, in which "x.json" stands for the file.
void refuse(const char *text, const char *expected);

const struct record_entry *entry_at(const struct recording *r, const char *key);
void assert_close(double a, double b); // to 12 digits

#endif
