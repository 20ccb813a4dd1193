// The strategies there are, one file each; kinds.c lists them. Internal to this folder.
//
// To add one: write NAME.c with a `struct strategy_kind strategy_NAME` at its end (random.c is the
// smallest), declare it here, and put it into strategy_kinds (kinds.c) and meson.build. The
// tests of the contract (tests/search/test_strategy.c) list the specs that they run: add yours.
#ifndef TILEWALK_SEARCH_KINDS_H
#define TILEWALK_SEARCH_KINDS_H

#include "search/strategy.h"

extern const struct strategy_kind strategy_opevo, strategy_random, strategy_local,
    strategy_annealing, strategy_ga, strategy_de, strategy_grid, strategy_gbfs, strategy_na2c,
    strategy_rnn, strategy_tpe, strategy_autotvm, strategy_walk, strategy_ansor, strategy_forest,
    strategy_lfbo, strategy_portfolio, strategy_feasible;

#endif
