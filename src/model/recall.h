// How well predictions order what was measured: larger is better, on both sides. Of equals the
// first is the better one.
#ifndef TILEWALK_MODEL_RECALL_H
#define TILEWALK_MODEL_RECALL_H

// Of the `k` with the best labels, the share that is among the `k` best predicted; 1 <= k <= count.
double recall_at(int count, const float *label, const float *predicted, int k);

// AutoTVM's measure of a cost model (tvm 0.6, xgboost_cost_model.py): the mean over i = 0 .. n-1 of
// the number of j < i whose true rank (0: best) is at most i, by i + 1, where j counts what was
// predicted best. n is limited to `count`.
double recall_average(int count, const float *label, const float *predicted, int n);

// Spearman's correlation of the ranks, equals at the mean of theirs. NAN when either side is all
// equal, or below two.
double rank_correlation(int count, const float *a, const float *b);

#endif
