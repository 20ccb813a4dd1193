#include "figures.h"

#include <stddef.h>

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))
#define FULL_TRIALS 512

// --- problems ---

const struct figure_driver figure_drivers[] = {
    {"llvmpipe/", "llvmpipe (LLVM 15.0.6, 256 bits)", "Mesa 22.3.6", "2026-11-23"},
    {"swiftshader/", "SwiftShader Device (Subzero)",
     "SwiftShader of Debian's chromium-common 156.0.8078.79", "2026-11-23"},
    {NULL},
};

// The operators of the OpEvo paper, small, as they were recorded (README.md).
static const struct figure_problem on_llvmpipe[] = {
    {"mm1", "llvmpipe/mm1", "mm1"},    {"mm2", "llvmpipe/mm2", "mm2"},
    {"mm3", "llvmpipe/mm3", "mm3"},    {"bmm1", "llvmpipe/bmm1", "bmm1"},
    {"bmm2", "llvmpipe/bmm2", "bmm2"}, {"bmm3", "llvmpipe/bmm3", "bmm3"},
    {"c1", "llvmpipe/c1", "c1"},       {"c2", "llvmpipe/c2", "c2"},
};
static const struct figure_problem on_swiftshader[] = {
    {"mm1", "swiftshader/mm1", "mm1"},    {"mm2", "swiftshader/mm2", "mm2"},
    {"mm3", "swiftshader/mm3", "mm3"},    {"bmm1", "swiftshader/bmm1", "bmm1"},
    {"bmm2", "swiftshader/bmm2", "bmm2"}, {"bmm3", "swiftshader/bmm3", "bmm3"},
    {"c1", "swiftshader/c1", "c1"},       {"c2", "swiftshader/c2", "c2"},
};
static const struct figure_problem on_both[] = {
    {"llvmpipe", "llvmpipe/mm1", "mm1"},
    {"swiftshader", "swiftshader/mm1", "mm1"},
};

// The same as the paper has them.
static const struct figure_problem papers[] = {
    {"mm1", NULL, "mm1"},   {"mm2", NULL, "mm2"},   {"mm3", NULL, "mm3"}, {"bmm1", NULL, "bmm1"},
    {"bmm2", NULL, "bmm2"}, {"bmm3", NULL, "bmm3"}, {"c1", NULL, "c1"},   {"c2", NULL, "c2"},
};

// A thousandth of each space: 484 000, 899 756 and 1 589 952 points.
static const struct figure_problem cubes[] = {
    {"512", NULL, "gbfs.lua", {"N=512", "M=512", "K=512"}, 484},
    {"1024", NULL, "gbfs.lua", {"N=1024", "M=1024", "K=1024"}, 900},
    {"2048", NULL, "gbfs.lua", {"N=2048", "M=2048", "K=2048"}, 1590},
};

static const struct figure_problem learned[] = {
    {"mm2", NULL, "mm2", .before = "mm1"},
    {"c2", NULL, "c2", .before = "c1"},
};

// The same product over a space that rules derive, and over the paper's template.
static const struct figure_problem spaces[] = {
    {"wide", NULL, "gemm", {"N=512", "M=4096", "K=1024"}, 0},
    {"limited", NULL, "mm2", {NULL}, 0},
};

static const struct figure_problem networks[] = {{"alexnet", NULL, "alexnet", {NULL}, 0}};

// --- strategies ---

static const struct figure_line rivals[] = {{"opevo"},  {"gbfs"}, {"na2c"}, {"autotvm"},
                                            {"random"}, {"walk"}, {NULL}};
static const struct figure_line mutation[] = {{"opevo:q=0.1"}, {"opevo:q=0.3"}, {"opevo:q=0.5"},
                                              {"opevo:q=0.7"}, {"opevo:q=0.9"}, {NULL}};
static const struct figure_line parents[] = {{"opevo:lambda=2"},  {"opevo:lambda=4"},
                                             {"opevo:lambda=8"},  {"opevo:lambda=16"},
                                             {"opevo:lambda=32"}, {NULL}};
static const struct figure_line offspring[] = {{"opevo:rho=2"},  {"opevo:rho=4"},  {"opevo:rho=8"},
                                               {"opevo:rho=16"}, {"opevo:rho=32"}, {NULL}};
static const struct figure_line guided[] = {{"gbfs"}, {"na2c"}, {"autotvm"}, {"rnn"}, {NULL}};
static const struct figure_line tuners[] = {
    {"random"},
    {"ga"},
    {"autotvm"},
    {"autotvm:loss=reg"},
    {"autotvm:diversity=1"},
    {"autotvm", .transfer = true},
    {NULL},
};
static const struct figure_line evolutions[] = {
    {"ansor"}, {"ansor:warmup=65536"}, {"autotvm"}, {"ga"}, {"random"}, {NULL}};
static const struct figure_line inference[] = {
    {"opevo", "roundrobin"}, {"autotvm", "roundrobin"}, {NULL}};
static const struct figure_line schedulers[] = {{"ansor", "gradient"},
                                                {"ansor", "roundrobin"},
                                                {"walk", "gradient"},
                                                {"walk", "roundrobin"},
                                                {NULL}};

// --- families ---

static const char opevo_paper[] =
    "Gao et al., OpEvo, tables 1 to 3: TFLOPS after 500 samples, mean and deviation of 5 runs, GTX "
    "1080 Ti / MI50.\n\n"
    "| | G-BFS | N-A2C | AutoTVM | OpEvo |\n|---|---|---|---|---|\n"
    "| MM1 | 7.22 ± 0.04 / 4.30 ± 0.07 | 6.39 ± 0.61 / 3.94 ± 0.54 | 4.86 ± 0.18 / 3.44 ± 0.43 | "
    "6.89 ± 0.58 / 4.33 ± 0.16 |\n"
    "| MM2 | 7.80 ± 0.57 / 6.34 ± 1.10 | 7.00 ± 0.90 / 6.32 ± 0.74 | 7.39 ± 0.20 / 6.18 ± 0.60 | "
    "7.90 ± 0.84 / 6.90 ± 0.48 |\n"
    "| MM3 | 6.98 ± 0.24 / 4.82 ± 0.35 | 6.77 ± 0.25 / 4.68 ± 0.34 | 6.91 ± 0.21 / 4.61 ± 0.19 | "
    "6.89 ± 0.18 / 5.18 ± 0.18 |\n"
    "| BMM1 | | | 4.30 ± 0.47 / 6.92 ± 0.62 | 5.46 ± 0.02 / 7.69 ± 0.43 |\n"
    "| BMM2 | | | 5.11 ± 0.37 / 7.15 ± 0.47 | 5.65 ± 0.03 / 8.03 ± 0.06 |\n"
    "| BMM3 | | | 4.34 ± 0.75 / 4.69 ± 0.77 | 4.82 ± 0.06 / 5.23 ± 0.28 |\n"
    "| C1 | | | 3.36 ± 0.73 / 5.60 ± 0.87 | 3.62 ± 0.46 / 6.13 ± 0.58 |\n"
    "| C2 | | | 6.33 ± 0.45 / 7.97 ± 0.56 | 8.00 ± 0.39 / 8.46 ± 0.65 |\n";

static const char sensitivity_paper[] =
    "OpEvo, section 5.5, figures 7 and 8: stable for most choices of q and lambda. q matters for "
    "convolutions only (too little exploration), lambda for BMM2 and C1: large values cost "
    "samples, "
    "small ones end in poor optima with a large deviation. It has no figure of rho.\n";

static const char gbfs_paper[] =
    "Zhang et al., Compiler-Level Matrix Multiplication Optimization, figures 7 and 8, Titan XP: "
    "after 0.1 % of the space of 1024 cubed (899 756 points), G-BFS and N-A2C find times 24 % "
    "below "
    "XGBoost's and 40 % below the RNN controller's; for larger products N-A2C is ahead of G-BFS. "
    "Boxes of 10 runs after 750 s: both are steadier than the other two.\n";

static const char autotvm_paper[] =
    "Chen et al., Learning to Optimize Tensor Programs: the learned model is ahead of random "
    "search "
    "and the genetic algorithm, the rank loss of regression by a little or nothing, diversity does "
    "little, transfer makes the beginning faster (no numbers in the source at hand).\n";

static const char ansor_paper[] =
    "Zheng et al., Ansor, figure 7: without its fine-tuning, or with a limited space, the result "
    "is "
    "much slower. Table 3, what Ansor needs to match AutoTVM's best, Intel CPU: ResNet-50 6403 of "
    "21 220 measurements (3.3 times fewer), 4540 of 39 250 s (8.6); Mobilenet-V2 1892 of 31 272 "
    "(16.5), 660 of 58 468 s (88.6); BERT 496 of 6220 (12.5), 266 of 12 007 s (45.1).\n";

const struct figure_family figure_families[] = {
    {"opevo", "OpEvo: best speed, small operators as llvmpipe has them", opevo_paper, on_llvmpipe,
     rivals, COUNT(on_llvmpipe), 5, 100, FIGURE_TRIALS | FIGURE_TIME},
    {"opevo-swiftshader", "OpEvo: best speed, small operators as SwiftShader has them", opevo_paper,
     on_swiftshader, rivals, COUNT(on_swiftshader), 5, 100, FIGURE_TRIALS | FIGURE_TIME},
    {"opevo-full", "OpEvo: best speed in the paper's own spaces", opevo_paper, papers, rivals,
     COUNT(papers), 5, FULL_TRIALS, FIGURE_TRIALS | FIGURE_TIME},
    {"opevo-q", "OpEvo: mutation rate q", sensitivity_paper, papers, mutation, COUNT(papers), 5,
     FULL_TRIALS, FIGURE_TRIALS},
    {"opevo-lambda", "OpEvo: parents lambda", sensitivity_paper, papers, parents, COUNT(papers), 5,
     FULL_TRIALS, FIGURE_TRIALS},
    {"opevo-rho", "OpEvo: offspring rho", sensitivity_paper, papers, offspring, COUNT(papers), 5,
     FULL_TRIALS, FIGURE_TRIALS},
    {"opevo-inference", "OpEvo: AlexNet's inference time",
     "OpEvo, figure 6: least after about 200 trials an operator; AutoTVM needs at least 400 for "
     "the "
     "same.\n",
     networks, inference, COUNT(networks), 5, 1200, FIGURE_TRIALS | FIGURE_COST},
    {"gbfs-recorded", "G-BFS and N-A2C: a small product as it was recorded", gbfs_paper, on_both,
     guided, COUNT(on_both), 10, 120, FIGURE_SPACE | FIGURE_TIME | FIGURE_BOXES | FIGURE_COST},
    {"gbfs", "G-BFS and N-A2C: a thousandth of the paper's own spaces", gbfs_paper, cubes, guided,
     COUNT(cubes), 10, 0, FIGURE_SPACE | FIGURE_TIME | FIGURE_BOXES | FIGURE_COST},
    {"autotvm", "AutoTVM: a product and a convolution", autotvm_paper, learned, tuners,
     COUNT(learned), 5, FULL_TRIALS, FIGURE_TRIALS},
    {"ansor", "Ansor: with and without its model, and with a limited space", ansor_paper, spaces,
     evolutions, COUNT(spaces), 5, FULL_TRIALS, FIGURE_TRIALS | FIGURE_TIME},
    {"network", "Ansor: a network, with and without the gradient scheduler", ansor_paper, networks,
     schedulers, COUNT(networks), 5, 1200, FIGURE_TRIALS | FIGURE_TIME | FIGURE_COST},
};
const int figure_family_count = COUNT(figure_families);
