#!/bin/sh
# export.sh PROGRAM SAMPLE.c: tunes a small product on the device, exports the three best kernels, and runs each with the
# sample program of the documentation, which checks the result. Skipped (77) where there is no device or no compiler.
set -eu
program=$1
sample=$2

skip() {
    echo "skipped: $1"
    exit 77
}

command -v cc >/dev/null || skip "no C compiler"
"$program" devices --json | grep -q '"index"' || skip "no Vulkan device"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export TILEWALK_DB="$folder/t.db"

"$program" tune gemm --set N=32 --set M=24 --set K=20 --trials 4 --seed 3 --plain
"$program" export 1 --best 3 --name k --out "$folder/out"

# The file, and the name of the kernel in it.
runs() {
    cc -std=c11 -O1 -Wall -Wextra -Werror -pedantic -DKERNEL_HEADER="\"$folder/out/$1.h\"" -DKERNEL_NAME="$2" \
        "$sample" -lvulkan -lm -o "$folder/run"
    "$folder/run"
}
runs k k_kernel
runs k-2 k_2_kernel
runs k-3 k_3_kernel

# Whether the device has a type of numbers.
has() {
    "$program" devices --json | grep -q "\"$1\":true" || { echo "the device has no $1: its kernels are not tried"; return 1; }
}

# Other numbers, batches and convolutions: one kernel of each.
session=1
tuned() {
    session=$((session + 1))
    "$program" tune "$@" --trials 2 --seed 3 --plain
    "$program" export $session --name "s$session" --out "$folder/out"
    runs "s$session" "s${session}_kernel"
}
tuned gemm --set N=16 --set M=24 --set K=12 --set batch=3
tuned conv-direct --set batch=2 --set in_channels=4 --set out_channels=8 --set height=9 --set width=11
if has f16; then
    tuned gemm --set N=16 --set M=24 --set K=12 --set type=f16 --set layout=tn
    tuned conv-direct --set batch=1 --set in_channels=4 --set out_channels=8 --set height=9 --set width=9 --set stride=2 --set type=f16
fi
if has i8; then
    tuned gemm --set N=16 --set M=24 --set K=12 --set type=i8 --set layout=nt
fi

# A kernel that asks for the size of its subgroups.
if "$program" devices --json | grep -q '"subgroup_most":[1-9]'; then
    cat >"$folder/product.lua" <<'TEXT'
operator.matmul { N = 32, M = 64, K = 16 }
param.p = discrete { 1 }
kernel {
  template = "product.comp", groups = function() return { 32 } end, subgroup = function() return device.subgroup_size end,
}
TEXT
    cat >"$folder/product.comp" <<'TEXT'
#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer A { float a[]; };
layout(binding = 1) readonly buffer B { float b[]; };
layout(binding = 2) writeonly buffer C { float c[]; };
void main()
{
    float sum = 0.0;
    for (uint k = 0; k < 16; k++)
        sum += a[gl_WorkGroupID.x * 16 + k] * b[k * 64 + gl_LocalInvocationID.x];
    c[gl_WorkGroupID.x * 64 + gl_LocalInvocationID.x] = sum;
}
TEXT
    tuned "$folder/product.lua"
    grep -q '"subgroup_size": [1-9]' "$folder/out/s$session.json"
else
    echo "the device lets no kernel choose its subgroups"
fi
