#include "kernel_tuner.h"

#include "base/str.h"

#include <stddef.h>

const int kernel_tuner_mark[KERNEL_TUNER_MARKS] = {10, 20, 50, 100, 200, 400, 500};

const struct kernel_tuner_curve *kernel_tuner_find(const char *recording, const char *strategy)
{
    for (const struct kernel_tuner_curve *c = kernel_tuner_curves; c->recording; c++)
        if (str_equal(c->recording, recording) && str_equal(c->strategy, strategy))
            return c;
    return NULL;
}

// clang-format off
const struct kernel_tuner_curve kernel_tuner_curves[] = {
    {"gemm-RTX_3090", "adaptive_tabu_greywolf", "1.4.0", 50, {0.690, 0.835, 0.932, 0.973, 0.992, 0.998, 0.999}},
    {"gemm-RTX_3090", "hybrid_vndx", "1.4.0", 50, {0.695, 0.787, 0.863, 0.936, 0.976, 0.996, 0.998}},
    {"gemm-RTX_3090", "greedy_ils", "1.3.3", 50, {0.599, 0.734, 0.868, 0.942, 0.982, 0.995, 0.996}},
    {"gemm-RTX_3090", "greedy_mls", "1.3.3", 50, {0.599, 0.734, 0.854, 0.902, 0.953, 0.993, 0.996}},
    {"gemm-RTX_3090", "genetic_algorithm", "1.4.0", 50, {0.689, 0.737, 0.810, 0.866, 0.931, 0.992, 0.996}},
    {"gemm-RTX_3090", "simulated_annealing", "1.4.0", 50, {0.685, 0.745, 0.832, 0.890, 0.936, 0.973, 0.973}},
    {"gemm-RTX_3090", "diff_evo", "1.4.0", 50, {0.757, 0.800, 0.862, 0.887, 0.932, 0.970, 0.983}},
    {"gemm-RTX_Titan", "adaptive_tabu_greywolf", "1.4.0", 50, {0.747, 0.850, 0.932, 0.986, 0.995, 1.000, 1.000}},
    {"gemm-RTX_Titan", "hybrid_vndx", "1.4.0", 20, {0.737, 0.810, 0.896, 0.963, 0.991, 0.999, 1.000}},
    {"gemm-RTX_Titan", "greedy_ils", "1.3.3", 50, {0.673, 0.801, 0.915, 0.956, 0.982, 0.998, 1.000}},
    {"gemm-RTX_Titan", "greedy_mls", "1.3.3", 50, {0.673, 0.801, 0.911, 0.945, 0.980, 0.998, 1.000}},
    {"gemm-RTX_Titan", "genetic_algorithm", "1.4.0", 50, {0.762, 0.799, 0.860, 0.920, 0.977, 0.999, 1.000}},
    {"gemm-RTX_Titan", "simulated_annealing", "1.4.0", 50, {0.758, 0.813, 0.886, 0.924, 0.966, 0.979, 0.979}},
    {"gemm-RTX_Titan", "diff_evo", "1.4.0", 50, {0.839, 0.857, 0.902, 0.925, 0.952, 0.983, 0.995}},
    {"convolution_milo-A100", "adaptive_tabu_greywolf", "1.4.0", 50, {0.572, 0.648, 0.738, 0.871, 0.929, 0.969, 0.983}},
    {"convolution_milo-A100", "hybrid_vndx", "1.4.0", 50, {0.583, 0.653, 0.775, 0.868, 0.935, 0.984, 0.990}},
    {"convolution_milo-A100", "greedy_ils", "1.3.3", 50, {0.515, 0.612, 0.736, 0.794, 0.853, 0.941, 0.951}},
    {"convolution_milo-A100", "greedy_mls", "1.3.3", 50, {0.515, 0.612, 0.747, 0.810, 0.905, 0.960, 0.969}},
    {"convolution_milo-A100", "genetic_algorithm", "1.4.0", 50, {0.547, 0.588, 0.687, 0.840, 0.948, 0.963, 0.963}},
    {"convolution_milo-A100", "simulated_annealing", "1.4.0", 50, {0.564, 0.621, 0.729, 0.813, 0.901, 0.955, 0.955}},
    {"convolution_milo-A100", "diff_evo", "1.4.0", 50, {0.531, 0.589, 0.667, 0.696, 0.778, 0.888, 0.936}},
    {"convolution_milo-A4000", "adaptive_tabu_greywolf", "1.4.0", 50, {0.630, 0.708, 0.797, 0.886, 0.965, 1.000, 1.000}},
    {"convolution_milo-A4000", "hybrid_vndx", "1.4.0", 20, {0.658, 0.716, 0.790, 0.818, 0.844, 0.913, 0.917}},
    {"convolution_milo-A4000", "greedy_ils", "1.3.3", 50, {0.579, 0.671, 0.849, 0.905, 0.964, 0.996, 1.000}},
    {"convolution_milo-A4000", "greedy_mls", "1.3.3", 50, {0.579, 0.671, 0.853, 0.899, 0.946, 0.993, 1.000}},
    {"convolution_milo-A4000", "genetic_algorithm", "1.4.0", 50, {0.604, 0.666, 0.764, 0.834, 0.917, 0.950, 0.950}},
    {"convolution_milo-A4000", "simulated_annealing", "1.4.0", 50, {0.608, 0.722, 0.817, 0.876, 0.940, 0.984, 0.984}},
    {"convolution_milo-A4000", "diff_evo", "1.4.0", 50, {0.573, 0.668, 0.767, 0.813, 0.900, 0.980, 0.993}},
    {"convolution_milo-W7800", "adaptive_tabu_greywolf", "1.4.0", 50, {0.583, 0.694, 0.835, 0.931, 0.992, 1.000, 1.000}},
    {"convolution_milo-W7800", "hybrid_vndx", "1.4.0", 50, {0.593, 0.725, 0.829, 0.899, 0.939, 0.983, 0.992}},
    {"convolution_milo-W7800", "greedy_ils", "1.3.3", 50, {0.505, 0.663, 0.840, 0.932, 0.980, 0.995, 1.000}},
    {"convolution_milo-W7800", "greedy_mls", "1.3.3", 50, {0.505, 0.663, 0.846, 0.966, 0.989, 1.000, 1.000}},
    {"convolution_milo-W7800", "genetic_algorithm", "1.4.0", 50, {0.561, 0.682, 0.775, 0.883, 0.972, 0.989, 0.989}},
    {"convolution_milo-W7800", "simulated_annealing", "1.4.0", 50, {0.604, 0.700, 0.804, 0.882, 0.964, 0.991, 0.991}},
    {"convolution_milo-W7800", "diff_evo", "1.4.0", 50, {0.633, 0.706, 0.809, 0.837, 0.914, 0.970, 0.984}},
    {"convolution-RTX_3090", "adaptive_tabu_greywolf", "1.4.0", 50, {0.678, 0.752, 0.913, 0.982, 0.995, 0.997, 0.997}},
    {"convolution-RTX_3090", "hybrid_vndx", "1.4.0", 20, {0.565, 0.697, 0.895, 0.952, 0.981, 0.993, 0.999}},
    {"convolution-RTX_3090", "greedy_ils", "1.3.3", 50, {0.618, 0.734, 0.876, 0.945, 0.988, 0.998, 0.998}},
    {"convolution-RTX_3090", "greedy_mls", "1.3.3", 50, {0.618, 0.734, 0.875, 0.952, 0.993, 0.998, 0.998}},
    {"convolution-RTX_3090", "genetic_algorithm", "1.4.0", 50, {0.690, 0.792, 0.869, 0.935, 0.989, 0.999, 0.999}},
    {"convolution-RTX_3090", "simulated_annealing", "1.4.0", 50, {0.664, 0.781, 0.900, 0.972, 0.993, 0.996, 0.996}},
    {"convolution-RTX_3090", "diff_evo", "1.4.0", 50, {0.584, 0.713, 0.904, 0.936, 0.984, 0.990, 0.992}},
    {"dedispersion_milo-W7800", "adaptive_tabu_greywolf", "1.4.0", 50, {0.834, 0.888, 0.948, 0.978, 0.989, 0.996, 0.997}},
    {"dedispersion_milo-W7800", "hybrid_vndx", "1.4.0", 20, {0.814, 0.907, 0.965, 0.980, 0.992, 0.998, 0.998}},
    {"dedispersion_milo-W7800", "greedy_ils", "1.3.3", 50, {0.811, 0.871, 0.934, 0.958, 0.975, 0.991, 0.997}},
    {"dedispersion_milo-W7800", "greedy_mls", "1.3.3", 50, {0.811, 0.871, 0.936, 0.962, 0.982, 0.995, 0.997}},
    {"dedispersion_milo-W7800", "genetic_algorithm", "1.4.0", 50, {0.834, 0.869, 0.925, 0.965, 0.992, 0.997, 0.997}},
    {"dedispersion_milo-W7800", "simulated_annealing", "1.4.0", 50, {0.826, 0.868, 0.934, 0.961, 0.980, 0.989, 0.989}},
    {"dedispersion_milo-W7800", "diff_evo", "1.4.0", 50, {0.874, 0.899, 0.929, 0.948, 0.982, 0.997, 0.998}},
    {"pnpoly-RTX_3090", "adaptive_tabu_greywolf", "1.4.0", 50, {0.856, 0.894, 0.924, 0.946, 0.969, 0.997, 1.000}},
    {"pnpoly-RTX_3090", "hybrid_vndx", "1.4.0", 20, {0.781, 0.855, 0.880, 0.922, 0.966, 0.998, 1.000}},
    {"pnpoly-RTX_3090", "greedy_ils", "1.3.3", 50, {0.797, 0.839, 0.905, 0.920, 0.937, 0.989, 0.996}},
    {"pnpoly-RTX_3090", "greedy_mls", "1.3.3", 50, {0.797, 0.839, 0.905, 0.924, 0.971, 0.992, 1.000}},
    {"pnpoly-RTX_3090", "genetic_algorithm", "1.4.0", 50, {0.865, 0.908, 0.955, 0.986, 0.994, 0.996, 0.996}},
    {"pnpoly-RTX_3090", "simulated_annealing", "1.4.0", 50, {0.817, 0.850, 0.896, 0.919, 0.934, 0.948, 0.948}},
    {"pnpoly-RTX_3090", "diff_evo", "1.4.0", 50, {0.829, 0.869, 0.931, 0.969, 0.997, 1.000, 1.000}},
    {NULL, NULL, NULL, 0, {0}},
};
