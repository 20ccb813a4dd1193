#!/bin/sh
# network.sh PROGRAM FLOW_FILES: tunes a small network on the device, exports it, builds the program that was exported with it,
# runs that, with the validation layer where there is one, and damages what it reads. Skipped (77) where there is no device or no compiler.
set -eu
program=$(realpath "$1")
files=$(realpath "$2")

skip() {
    echo "skipped: $1"
    exit 77
}

fail() {
    echo "FAILED: $1"
    exit 1
}

command -v cc >/dev/null || skip "no C compiler"
"$program" devices --json | grep -q '"index"' || skip "no Vulkan device"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export TILEWALK_DB="$folder/t.db"
cp "$files/small.lua" "$files/small.comp" "$folder"
cat >"$folder/three.lua" <<'TEXT'
network "three products, a shortcut and a softmax"
local layers = include "layers.lua"
local function product(name, n, from)
  return layer { name = name, preset = "small.lua", from = from, set = { N = n } }
end
local x = input { name = "x", sizes = { 64, 64 } }
local first = product("first", 64, x)
local sum = layers.add { "short cut", first, product("second", 64, first) }
output(layers.softmax { "softmax", sum })
output(product("narrow", 16, input { name = "v", sizes = { 16, 64 } }))
TEXT

"$program" tune "$folder/three.lua" --trials 16 --seed 3 --workers 1 --strategy random --plain
"$program" export 1 --out "$folder/out" --dry-run
[ ! -e "$folder/out" ] || fail "a dry run has written files"
"$program" export 1 --out "$folder/out"
cd "$folder/out"
grep -q '"first":0,"last":2' three.plan.json || fail "the plan has no lifetimes"
cc -std=c11 -O1 -Wall -Wextra -Werror -pedantic run.c -lvulkan -lm -o run
./run
if "$program" doctor --json | grep -q '"name":"validation layer","state":"ok"'; then
    VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation ./run >said 2>&1
    cat said
    if grep -qi 'validation \|VUID' said; then fail "the validation layer complains"; fi
fi

# What is wrong is seen: another weight, a file that ends early, none at all.
refused() {
    if "$@" >said 2>&1; then fail "not refused: $*"; fi
    cat said
}
cp three.data whole.data
dd if=/dev/urandom of=three.data bs=4 seek=8192 count=64 conv=notrunc 2>/dev/null
refused ./run
head -c 40000 whole.data >three.data
refused ./run
grep -q 'not that of this network' said || fail "a data file that ends early is taken"
rm three.data
refused ./run
grep -q 'cannot be opened' said || fail "a data file that is not there is taken"
./run whole.data

# Whatever is in the way stays there; kernels are not chosen by rank.
"$program" export 1 --out "$folder/out" --json | grep -q 'out/first.comp","' || fail "a second export of the same session is refused"
sed -i 's/"session":1/"session":7/' three.plan.json
refused "$program" export 1 --out "$folder/out"
grep -q 'and not from session 1' said || fail "files of another session are replaced"
"$program" export 1 --out "$folder/out" --force
refused "$program" export 1 --out "$folder/out" --best 2
refused "$program" export 1 --out "$folder/out" --verify
"$program" tune "$folder/three.lua" --trials 4 --seed 3 --workers 1 --strategy random --again --plain
refused "$program" export "$("$program" ls --json | sed 's/.*"sessions":\[{"id":\([0-9]*\).*/\1/')" --out "$folder/none"
grep -q 'has no kernel yet' said || fail "a network without kernels is exported"
[ ! -e "$folder/none" ] || fail "what is refused leaves files"
