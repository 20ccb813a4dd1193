// The program's strategies, and others that are best nowhere: what the default is held against.
#include "search/kinds.h"

#include <stddef.h>

extern const struct strategy_kind strategy_de, strategy_lfbo, strategy_portfolio;

const struct strategy_kind *const strategy_kinds[] = {
    &strategy_walk,
    &strategy_opevo,
    &strategy_random,
    &strategy_rnn,
    &strategy_local,
    &strategy_annealing,
    &strategy_ga,
    &strategy_de,
    &strategy_grid,
    &strategy_gbfs,
    &strategy_na2c,
    &strategy_tpe,
    &strategy_autotvm,
    &strategy_ansor,
    &strategy_forest,
    &strategy_lfbo,
    &strategy_portfolio,
    &strategy_feasible,
    NULL,
};
