#!/bin/sh
# network.sh PROGRAM: imports a convolution of ONNX's own test data, whose weights are f32, tunes it in f16 on matrix units and in bf16,
# exports both, and builds and runs what was exported. Skipped (77) where there is no device, no compiler or no such model.
set -eu
program=$(realpath "$1")
model=/usr/share/libonnx-testdata/data/pytorch-converted/test_Conv2d

skip() {
    echo "skipped: $1"
    exit 77
}

fail() {
    echo "FAILED: $1"
    exit 1
}

"$program" devices --json | grep -q '"f16":true' || skip "no Vulkan device that has f16"
[ -d $model ] || skip "no conformance models (libonnx-testdata)"
command -v cc >/dev/null || skip "no C compiler"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export TILEWALK_DB="$folder/t.db"
cd "$folder"
"$program" import $model/model.onnx --data $model/test_data_set_0 --out net.lua
units=$("$program" devices --json | sed -n 's/.*"matrix_api":"\([a-z]*\)".*/\1/p' | head -n 1)
[ "$units" != none ] || units=emulated

# tuned TYPE UNITS: a session, whose run as a whole gave what was recorded, as a folder that gives it, too.
tuned() {
    "$program" tune net.lua --set "type=$1" --set "units=$2" --trials 8 --seed 3 --workers 1 --strategy random --again --json >events
    grep -q '"event":"whole".*"verified":true' events || fail "$1: $(cat events)"
    id=$(sed -n '1s/.*"id":\([0-9]*\),.*/\1/p' events)
    "$program" export "$id" --out "$1"
    (cd "$1" && cc -std=c11 -O1 -Wall -Wextra -Werror -pedantic run.c -lvulkan -lm -o run && ./run)
}
tuned f16 "$units"
grep -q matrix f16/3.json || fail "no kernel on matrix units: $(ls f16)"
tuned bf16 none

status=0
"$program" tune net.lua --set type=f64 2>err || status=$?
{ [ "$status" = 2 ] && grep -q 'type=f64' err; } || fail "a type that there is not: $status, $(cat err)"

# 1e5, which no f16 holds: the first of the weights is the first of the data.
header=$(od -An -t u4 -N 4 net.safetensors | tr -d ' ')
first=$(head -c $((header + 8)) net.safetensors | grep -a -o '"3.W":{[^}]*' | sed 's/.*offsets":\[\([0-9]*\),.*/\1/')
printf '\000\120\303\107' | dd of=net.safetensors bs=1 seek=$((header + 8 + first)) conv=notrunc 2>/dev/null
"$program" tune net.lua --set type=f16 --trials 1 --seed 3 --workers 1 --strategy random --again 2>err
grep -q 'too large for f16' err || fail "weights beyond f16: $(cat err)"
