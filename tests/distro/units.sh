#!/usr/bin/env bash
# units.sh ROUNDS [SEED [PRESET...]]: runs random kernels on the KHR matrix units of the device here, ROUNDS of each type, layout and the
# like of each preset, and of `definitions` that tests have, verified and with every access checked, where the validation layer is installed under it:
# ./dev distro debian-13 tests/distro/units.sh 50. Another SEED (1) draws other kernels. A preset with a wrong one is printed with it.
# TILEWALK_ACCUMULATORS=16 draws kernels with so many sums an invocation at most, which take a CPU driver a fifth of the time.
set -euo pipefail

cd "$(dirname "$0")/../.."
rounds=$1 seed=${2-1}
shift $(($# < 2 ? $# : 2))
[ $# -gt 0 ] || set -- gemm-coop gemm bmm skinny conv-implicit conv1x1 conv-winograd winograd flash-attention definitions
ninja -C build tests/test_kernels >/dev/null
log=$(mktemp) status=0
trap 'rm -f "$log"' EXIT
for preset; do
    group=(kernels)
    [ "$preset" != definitions ] || group=(definitions '*m*') # those on matrix units, and that the validation layer is silent
    if TILEWALK_DATA=. TILEWALK_NAMED=1 TILEWALK_UNITS=khr TILEWALK_PRESET=$preset TILEWALK_ROUNDS=$rounds TILEWALK_SEED=$seed build/tests/test_kernels "${group[@]}" \
        >"$log" 2>&1; then
        grep ' random kernels ' "$log"
        sed -n "s/^$preset .*--set \\(type=[^ ]*\\).*/\\1/p" "$log" | sort | uniq -c
    else
        status=1
        tail -n 20 "$log"
    fi
done
exit $status
