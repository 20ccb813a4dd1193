#!/usr/bin/env python3
"""The spaces of this folder built by Kernel Tuner, for bench_spaces.c: a line "count seconds MiB" for the one that is named.

    with_kernel_tuner.py hotspot

Restrictions are texts, its default, which it parses into constraints of its optimised python-constraint.
"""
import resource
import sys
import time

from kernel_tuner.searchspace import Searchspace


def upto(n, step=1, start=1):
    return list(range(start, n + 1, step))


SPACES = {
    "hotspot": (
        {
            "block_size_x": [1, 2, 4, 8, 16] + upto(1024, 32, 32), "block_size_y": [1, 2, 4, 8, 16, 32],
            "tile_size_x": upto(10), "tile_size_y": upto(10), "temporal_tiling_factor": upto(10),
            "loop_unroll_factor_t": upto(10), "sh_power": [0, 1], "blocks_per_sm": [0, 1, 2, 3, 4],
        },
        [
            "block_size_x*block_size_y >= 32", "block_size_x*block_size_y <= 1024",
            "temporal_tiling_factor % loop_unroll_factor_t == 0",
            "(block_size_x*tile_size_x + temporal_tiling_factor * 2) * (block_size_y*tile_size_y + temporal_tiling_factor * 2)"
            " * (2+sh_power) * 4 <= 49152",
        ],
    ),
    "dedispersion": (
        {
            "block_size_x": [1, 2, 4, 8] + upto(512, 16, 16), "block_size_y": [1, 2] + upto(128, 4, 4),
            "tile_size_x": [1, 2, 3, 4], "tile_size_y": upto(8), "tile_stride_x": [0, 1], "tile_stride_y": [0, 1],
            "loop_unroll_factor_channel": [0, 1, 2, 3, 4, 6, 8, 12, 16],
        },
        [
            "block_size_x*block_size_y >= 32", "block_size_x*block_size_y <= 1024",
            "tile_size_x > 1 or tile_stride_x == 0", "tile_size_y > 1 or tile_stride_y == 0",
        ],
    ),
    "gemm": (
        {
            "MWG": [16, 32, 64, 128], "NWG": [16, 32, 64, 128], "KWG": [16, 32], "MDIMC": [8, 16, 32],
            "NDIMC": [8, 16, 32], "MDIMA": [8, 16, 32], "NDIMB": [8, 16, 32], "KWI": [2], "VWM": [1, 2, 4, 8],
            "VWN": [1, 2, 4, 8], "STRM": [0, 1], "STRN": [0, 1], "SA": [0, 1], "SB": [0, 1],
        },
        [
            "KWG % KWI == 0", "MWG % (MDIMC * VWM) == 0", "NWG % (NDIMC * VWN) == 0", "MWG % (MDIMA * VWM) == 0",
            "NWG % (NDIMB * VWN) == 0", "KWG % (MDIMC * NDIMC // MDIMA) == 0", "KWG % (MDIMC * NDIMC // NDIMB) == 0",
            "MDIMC * NDIMC <= 1024",
        ],
    ),
    "microhh": (
        {
            "block_size_x": [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024], "block_size_y": [1, 2, 4, 8, 16, 32],
            "block_size_z": [1, 2, 4], "tile_x": [1, 2, 4, 8], "tile_y": [1, 2, 4], "tile_z": [1, 2, 4],
            "unroll_x": [0, 1, 2, 4, 8], "unroll_y": [0, 1, 2, 4], "unroll_z": [0, 1, 2, 4], "strides": [0, 1],
            "blocks_per_sm": [0, 1, 2, 3, 4],
        },
        [
            "block_size_x*block_size_y*block_size_z >= 32", "block_size_x*block_size_y*block_size_z <= 1024",
            "blocks_per_sm == 0 or block_size_x*block_size_y*block_size_z*blocks_per_sm <= 2048",
            "unroll_x == 0 or tile_x % unroll_x == 0", "unroll_y == 0 or tile_y % unroll_y == 0",
            "unroll_z == 0 or tile_z % unroll_z == 0",
        ],
    ),
    "linkage": (
        {f"{what}_{d}": upto(16) for d in "LP" for what in ("local", "private", "groups", "items")}
        | {"cache_local": [0, 1], "cache_private": [0, 1]},
        [
            rule.replace("?", d)
            for d in "LP"
            for rule in ("16 % local_? == 0", "local_? % private_? == 0", "16 // local_? % groups_? == 0",
                         "local_? // private_? % items_? == 0")
        ]
        + ["items_L * items_P <= 64", "cache_local == 1 or cache_private == 0"],
    ),
    "xgemm": (
        {name: upto(32) for name in ("mwg", "nwg", "kwg", "mdimc", "ndimc", "mdima", "ndimb")},
        [
            "1024 % mwg == 0", "1024 % nwg == 0", "1024 % kwg == 0", "mwg % mdimc == 0", "nwg % ndimc == 0",
            "mdimc * ndimc % mdima == 0", "mdimc * ndimc % ndimb == 0", "kwg % (mdimc * ndimc // mdima) == 0",
            "kwg % (mdimc * ndimc // ndimb) == 0", "mdimc * ndimc >= 32", "mdimc * ndimc <= 512",
        ],
    ),
}


def main():
    params, restrictions = SPACES[sys.argv[1]]
    before = resource.getrusage(resource.RUSAGE_SELF)
    started = time.process_time()
    space = Searchspace(params, restrictions, 1 << 62)
    seconds = time.process_time() - started
    after = resource.getrusage(resource.RUSAGE_SELF)
    print(space.size, f"{seconds:.6f}", f"{(after.ru_maxrss - before.ru_maxrss) / 1024:.1f}")


main()
