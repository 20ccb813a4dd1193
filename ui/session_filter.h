// Which sessions are listed, as a text that people type: words that must all hold.
//
//     struct session_filter f;
//     if (session_filter_parse(&f, "gemm state:running best>150 trials<50", model, e))
//         session_filter_accepts(&f, row)
//
// A bare word stands anywhere in what a row shows, or in the note, the driver, the path or the last
// message. FIELD:TEXT (or ~) is a text that contains it, or a number that equals it; FIELD=VALUE is
// all of it, != the opposite; numbers are also compared with < <= > >=. The beginning of a field's
// name is enough when only one begins so. `best` is in the unit that the list shows (GB/s of those
// rated by bytes), and equal when it is shown so; a relative speed is in none. Upper and lower case
// are the same.
//
// A name that is no field is an error, unless the word as it stands is to be seen in some session:
// "synthetic:rugged", "q=0.3". Pure but for the model that is read. One thread.
#ifndef TILEWALK_UI_SESSION_FILTER_H
#define TILEWALK_UI_SESSION_FILTER_H

#include "filter_op.h"
#include "model.h"

#define SESSION_FILTER_TERMS 24

struct session_term {
    int field; // of session_fields; -1: any
    enum term_op op;
    char text[80];
    double number; // of fields that are numbers
};

struct session_filter {
    struct session_term term[SESSION_FILTER_TERMS];
    int count;
    double per_flops; // the unit of speeds
};

// False and `e`: a name or a value means nothing, or there are too many words.
bool session_filter_parse(struct session_filter *f, const char *text, const struct model *m,
                          struct err *e);
bool session_filter_accepts(const struct session_filter *f, const struct session_row *row);

#endif
