#include "search/kinds.h"

#include <stddef.h>

// Tests and benchmarks with other strategies link their own table instead (tests/bench/strategies).
const struct strategy_kind *const strategy_kinds[] = {
    &strategy_walk,  &strategy_opevo,     &strategy_random,   &strategy_rnn,
    &strategy_local, &strategy_annealing, &strategy_ga,       &strategy_grid,
    &strategy_gbfs,  &strategy_na2c,      &strategy_tpe,      &strategy_autotvm,
    &strategy_ansor, &strategy_forest,    &strategy_feasible, NULL,
};
