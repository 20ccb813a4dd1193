#!/bin/sh
# models.sh PROGRAM: `tilewalk import` on what other programs have of models.
set -eu
program=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
    echo "models.sh: $*" >&2
    exit 1
}

cat >pasted <<'LOG'
Vulkan Timings:
ADD: 64 x 5 us
MUL_MAT_VEC q4_K m=64 n=1 k=32: 10 x 2 us
MUL_MAT f16 m=64 n=16 k=32: 10 x 6 us
LOG

"$program" import pasted --out list.lua >text
grep -q '^pasted (GGML_VK_PERF_LOGGER): 20 products that took 0.08 ms$' text || fail "$(cat text)"
grep -q '^  without what is no product of matrices: 0.32 ms, 80 %' text || fail "$(cat text)"
grep -q '^  f16.m64.n16.k32 * 10 .* 75.00 %' text || fail "no share of time: $(cat text)"
"$program" check list.lua >checked
grep -q '^2 tasks in a list of 2 kernels, which occur 20 times: .*, 0.08 ms elsewhere$' checked || fail "$(cat checked)"
tail -n 3 checked >listed
grep -qFf listed text || fail "import and check differ: $(cat text checked)"

"$program" import pasted --json >json
for part in '"format":"GGML_VK_PERF_LOGGER"' '"left_out":["what is no product' '"uses":10' '"share":0.75' \
    '"told_seconds":6e-05'; do
    grep -qF "$part" json || fail "no $part in $(cat json)"
done

# A file that is wrong ends with 1 and one line, words that are wrong with 2; what is there stays.
expect() {
    code=$1 words=$2
    shift 2
    status=0
    "$program" import "$@" >out 2>err || status=$?
    [ $status = "$code" ] || fail "import $*: exit code $status: $(cat err)"
    grep -qF "tilewalk: $words" err || fail "import $*: $(cat err)"
}
expect 1 "'list.lua' is there already (--force replaces it)" pasted --out list.lua
expect 2 '--set tokens=2: of a log nothing can be set' pasted --set tokens=2
expect 2 '--space is for recordings' pasted --space list.lua
printf 'GGUF\003\000\000\000\001' >cut.gguf
expect 1 'cut.gguf: a header of 8 bytes at byte 8, where 1 are left (is it cut off?)' cut.gguf --out new.lua
[ ! -e new.lua ] || fail "a file is left of what failed"
