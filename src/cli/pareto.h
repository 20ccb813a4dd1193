// show --pareto: the trials of a session that no other one beats in both time and energy, fastest
// first.
//
//     pareto_show(store, &record, json, &arena, e)     prints a table, or JSON
//
// Joules are those of tune --objective, or what a program prints (trial/benchmark.h).
#ifndef TILEWALK_CLI_PARETO_H
#define TILEWALK_CLI_PARETO_H

#include "store/store.h"

// Fails where no trial has joules. Strings live in `a`.
bool pareto_show(struct store *store, const struct session_record *r, bool json, struct arena *a,
                 struct err *e);

#endif
