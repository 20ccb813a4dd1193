// The rows of a file, whose topology is not known until all are read. Internal to this folder.
//
//     struct table t = {.recording = r};
//     table_declare(&t, "MWG", ...)           once for each parameter a format declares
//     table_begin_row(&t, line);
//     table_set(&t, ...)                      each parameter of the row
//     table_end_row(&t, &entry, e);
//     table_finish(&t, e);                    makes the space and fills the recording
//     table_release(&t);
//
// Numbers are equal when their values are (16 and 16.0), flags are equal to 0 and 1 as in Python.
// The first row makes the parameters that are not declared; every later row has the same ones. A
// list of numbers is one parameter, a factorization, if its product is the same in all rows, else
// one parameter a number.
#ifndef TILEWALK_RECORD_TABLE_H
#define TILEWALK_RECORD_TABLE_H

#include "base/json_read.h"
#include "record/record.h"

enum value_type { VALUE_NUMBER, VALUE_FLAG, VALUE_TEXT };

struct value {
    enum value_type type;
    double number; // flags: 0 or 1
    const char *text;
};

struct column {
    const char *name;
    bool declared;    // its values were declared: a row may not have others
    const char *list; // the name of the list whose first part it is; NULL: of none
    int parts;        // of that list
    struct value *value;
    int count, capacity;
    int last; // the value found last: the next row often has the same or the next one
};

struct row {
    int line;
    struct record_entry entry; // its runs are in `run`, in the order of the rows
};

struct table {
    struct recording *recording;
    bool keeps_first; // of rows with the same values; else they are an error
    struct column column[SPACE_MAX_SLOTS];
    int columns;
    int32_t cell[SPACE_MAX_SLOTS]; // the current row; -1: not set
    int expected;                  // the likely column of the next member
    int row_line;

    struct row *row;
    int32_t *cells; // rows * columns
    int rows, row_capacity;
    double *run;
    size_t runs, run_capacity, row_first_run;
};

void table_release(struct table *t);

// Declares a parameter with all its values (a list).
bool table_declare(struct table *t, const char *name, struct json values, struct err *e);
// Declares a parameter with an array of values.
bool table_declare_values(struct table *t, const char *name, int count, const struct value *value,
                          int line, struct err *e);
int table_find(const struct table *t, struct json name); // -1: no such column

void table_begin_row(struct table *t, int line);
// Sets a parameter of the current row by its name; the first row makes its column.
bool table_set_named(struct table *t, struct json name, struct json value, struct err *e);
// The same for a name that is no value of the file. A value that is null is the text "None".
bool table_set_text(struct table *t, const char *name, struct json value, struct err *e);
// Sets the parts of a list of numbers, NAME_0 and so on.
bool table_set_list(struct table *t, const char *name, struct json list, struct err *e);
// Sets all members of an object.
bool table_set_members(struct table *t, struct json object, struct err *e);
bool table_set(struct table *t, int column, struct json value, struct err *e);
// Sets all columns from "16,True,a": values in order, joined by commas, which texts may contain,
// too. False leaves the row as it is.
bool table_set_key(struct table *t, const char *key, struct err *e);
int table_first_unset(const struct table *t); // a column; `columns`: the row has all
// Ends the row with `entry`, which has no runs; added runs are dropped unless its outcome is ok.
bool table_end_row(struct table *t, const struct record_entry *entry, struct err *e);

bool table_finish(struct table *t, struct err *e);
// Makes the space alone, for a file without rows; does not seal it.
bool table_make_params(struct table *t, struct err *e);

#endif
