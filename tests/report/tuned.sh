#!/bin/sh
# tuned.sh TILEWALK SOURCE: what a session found is found again by a program of plain Vulkan, which takes it into its own
# shader: docs/sample/run_tuned.c, with the table as JSON and compiled in; and by lookup.
set -e
tilewalk=$(realpath "$1") source=$2
command -v glslangValidator >/dev/null || {
    echo "glslangValidator is not here"
    exit 77
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_DATA_HOME="$folder"
cd "$folder"
"$tilewalk" devices --json | grep -q '"name"' || {
    echo "there is no Vulkan device"
    exit 77
}
cp "$source"/docs/sample/product.* .
set -- --set N=32 --set M=24 --set K=16
"$tilewalk" tune product.lua "$@" --trials 4 --seed 1 --plain >/dev/null
"$tilewalk" export 1 --as table --out table.json
"$tilewalk" export 1 --as c-table --out table.h
glslangValidator -V product.comp -o product.spv >/dev/null
cc -std=c11 -Wall -Wextra -Werror -I"$source/src/export/reader" -I"$source/docs/sample" "$source/docs/sample/run_tuned.c" -lvulkan -lm -o run
cc -std=c11 -Wall -Wextra -Werror -I"$source/src/export/reader" -I"$source/docs/sample" -I. -DTABLE='"table.h"' -DTABLE_NAME=table \
    "$source/docs/sample/run_tuned.c" -lvulkan -lm -o run_compiled
best=$("$tilewalk" show 1 --json | sed 's/.*"best":{//; s/.*"config":\({[^}]*}\).*/\1/')
for program in ./run ./run_compiled; do
    for shape in '32 24 16' '33 20 16'; do
        # shellcheck disable=SC2086 # three words
        "$program" table.json product.spv $shape >told || {
            status=$?
            cat told
            exit $status
        }
        tr -d ' ' <told | grep -qF "$best" && grep -q 'of  *this device and driver' told || {
            echo "$program $shape, which should have found $best:"
            cat told
            exit 1
        }
    done
    "$program" table.json product.spv 32 24 15 | grep -q 'another shape'
done
grep -q '[0-9A-Za-z]' run_tuned.cache
"$tilewalk" lookup table.json matmul "$@" --json | grep -qF '"like":"same","distance":0'
