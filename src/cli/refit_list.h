// How good a session's model was, each time it was fitted: for people and as JSON.
//
//     struct refit_list l = {0};
//     refit_list_read(&l, store, session, e);
//     refit_list_add_table(&l, &out);
//     refit_list_finish(&l);
#ifndef TILEWALK_CLI_REFIT_LIST_H
#define TILEWALK_CLI_REFIT_LIST_H

#include "base/json.h"
#include "store/store.h"

struct refit_list {
    struct refit_record *refit; // in their order
    int count, capacity;
};

bool refit_list_read(struct refit_list *l, struct store *store, int64_t session, struct err *e);
void refit_list_add_table(const struct refit_list *l, struct str *out);      // a line each
void refit_list_add_summary(const struct refit_list *l, struct str *out);    // one line, if any
void refit_list_add_json(const struct refit_list *l, struct json_writer *w); // "refits"
void refit_list_finish(struct refit_list *l);

#endif
