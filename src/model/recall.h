// Measures of how well predictions rank the results. Larger is better, for predictions and results;
// of equals the first is better.
#ifndef TILEWALK_MODEL_RECALL_H
#define TILEWALK_MODEL_RECALL_H

// Returns the share of the `k` best labels that is among the `k` best predictions; 1 <= k <= count.
double recall_at(int count, const float *label, const float *predicted, int k);

// Returns AutoTVM's measure of a cost model (tvm 0.6, xgboost_cost_model.py): the mean over
// i = 0 .. n-1 of the number of j < i whose true rank (0: best) is at most i, divided by i + 1,
// where j counts by prediction, the best first. n is limited to `count`.
double recall_average(int count, const float *label, const float *predicted, int n);

// Returns Spearman's rank correlation; equals have the mean of their ranks. NAN if either side is
// all equal, or for fewer than two.
double rank_correlation(int count, const float *a, const float *b);

#endif
