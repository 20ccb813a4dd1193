// A product of matrices that times itself five times, and says if its result is wrong: what any
// program does that tilewalk is to measure (docs/guide/spaces.md). BLOCK is chosen by the flags.
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <time.h>

#ifndef BLOCK
#define BLOCK 32
#endif
enum { N = 128, RUNS = 5 };

static void multiply(float a[N][N], float b[N][N], float c[N][N])
{
    for (int row = 0; row < N; row++)
        for (int column = 0; column < N; column++)
            c[row][column] = 0;
    for (int first = 0; first < N; first += BLOCK)
        for (int row = 0; row < N; row++)
            for (int k = first; k < first + BLOCK; k++)
                for (int column = 0; column < N; column++)
                    c[row][column] += a[row][k] * b[k][column];
}

int main(void)
{
    float a[N][N], b[N][N], c[N][N];
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            a[i][k] = (float)(i % 7);
            b[i][k] = (float)(k % 5);
        }
    for (int run = 0; run < RUNS; run++) {
        struct timespec from, to;
        clock_gettime(CLOCK_MONOTONIC, &from);
        multiply(a, b, c);
        clock_gettime(CLOCK_MONOTONIC, &to);
        printf("ms %.6f\n", 1e3 * (double)(to.tv_sec - from.tv_sec) +
                                1e-6 * (double)(to.tv_nsec - from.tv_nsec));
    }
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            float right = (float)(N * (i % 7) * (k % 5)); // exact: sums of small whole numbers
            if (c[i][k] != right) {
                printf("wrong: row %d, column %d is %g\n", i, k, (double)c[i][k]);
                return 0;
            }
        }
    return 0;
}
