// The strategies, one file each; kinds.c lists them. Internal to this folder.
//
// To add one, write NAME.c with a `struct strategy_kind strategy_NAME` at its end (random.c is the
// smallest), declare it here, and add it to strategy_kinds (kinds.c) and meson.build. Also add it
// to the list of specs in the contract tests (tests/search/test_strategy.c).
#ifndef TILEWALK_SEARCH_KINDS_H
#define TILEWALK_SEARCH_KINDS_H

#include "search/strategy.h"

extern const struct strategy_kind strategy_opevo, strategy_random, strategy_local,
    strategy_annealing, strategy_ga, strategy_grid, strategy_gbfs, strategy_na2c, strategy_rnn,
    strategy_tpe, strategy_autotvm, strategy_walk, strategy_ansor, strategy_forest,
    strategy_feasible;

#endif
