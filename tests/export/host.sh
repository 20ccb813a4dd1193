#!/bin/sh
# host.sh DIR [PROGRAM]: patches of a real checkout of ggml or llama.cpp. Tunes both of ggml's presets there on the default device, with few
# trials, and lets git apply the patches to a copy of the checkout's files. Nothing in DIR changes.
set -eu
dir=$(cd "$1" && pwd)
program=${2:-$(cd "$(dirname "$0")/../.." && pwd)/build/tilewalk}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export TILEWALK_DB="$folder/t.db"

# Rows in a multiple that ggml knows, in workgroups that it has: the best few are looked at.
"$program" tune ggml-mul-mm --set M=64 --set N=64 --set K=64 --set "ggml=$dir" --trials 16 --seed 2 --plain >/dev/null
"$program" tune ggml-mul-mat-vec --set type=q4_K --set "ggml=$dir" --trials 16 --seed 2 --plain >/dev/null
"$program" export 1 2 --as ggml --in "$dir" --best 16 --anyway >"$folder/patch"

git -C "$dir" apply --check "$folder/patch"
sed -n '/^--- a/,$p' "$folder/patch"
echo "git apply --check accepts it: $(git -C "$dir" rev-parse --short HEAD)"
