#!/bin/sh
# import.sh PROGRAM: `tilewalk import` on files of our own.
set -eu
program=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
    echo "import.sh: $*" >&2
    exit 1
}

cat >card.json <<'JSON'
{"device_name": "Card", "kernel_name": "k", "tune_params_keys": ["x", "s"],
"tune_params": {"x": [1, 2, 4], "s": ["a", "b"]}, "objective": "time", "cache": {
"1,a": {"x": 1, "s": "a", "time": 3.0, "times": [2.0, 4.0], "compile_time": 10},
"4,b": {"x": 4, "s": "b", "time": 1.0},
"2,b": {"x": 2, "s": "b", "time": "CompilationFailedConfig"},
JSON
cat >rules.json <<'JSON'
{"ConfigurationSpace": {"TuningParameters": [{"Name": "x", "Values": "[1, 2, 4]"},
{"Name": "s", "Values": "['a', 'b']"}], "Conditions": [{"Expression": "(x == 1) == (s == 'a')"}]}}
JSON

"$program" import card.json >text
grep -q '^card (kernel-tuner): k on Card$' text || fail "no first line: $(cat text)"
grep -q '^recorded 3 of 6, valid 2, compile 1$' text || fail "no counts: $(cat text)"
grep -q '^best 1.* ms, median 2.* ms$' text || fail "no times: $(cat text)"
grep -q 'x=4 s=b' text || fail "no optimum: $(cat text)"

"$program" import rules.json >text
grep -q '^declarations only, 6 points$' text || fail "no declarations: $(cat text)"

gzip -k card.json
"$program" import card.json.gz --json --out own.json >json
for part in '"format":"kernel-tuner"' '"recorded":3' '"valid":2' '"failed":{"compile":1}' '"best":0.001' \
    '"median":0.002' '"best_config":{"x":4,"s":"b"}' '"kind":"categorical"'; do
    grep -qF "$part" json || fail "no $part in $(cat json)"
done
"$program" import own.json --json | sed 's/own.json/card.json.gz/; s/"tilewalk"/"kernel-tuner"/' | cmp -s - json ||
    fail "our own format says something else"

# A file that is wrong ends with 1 and one line, words that are wrong with 2.
expect() {
    code=$1 words=$2
    shift 2
    status=0
    "$program" import "$@" >out 2>err || status=$?
    [ $status = "$code" ] || fail "import $*: exit code $status"
    grep -q "^tilewalk: $words" err || fail "import $*: $(cat err)"
    [ "$(wc -l <err)" = 1 ] || [ "$code" = 2 ] || fail "import $*: $(cat err)"
}
head -c 60 card.json.gz >cut.json.gz
expect 1 'cut.json.gz: the compressed data ends early, at byte 60' cut.json.gz
expect 1 "cannot read 'none.json'" none.json
expect 1 'rules.json: there are only declarations' rules.json --out x.json
echo mine >mine.lua
expect 1 "'mine.lua' is there already (--force replaces it)" card.json --out mine.lua
[ "$(cat mine.lua)" = mine ] || fail "mine.lua was replaced"
"$program" import card.json --out mine.lua --force >text
"$program" import mine.lua | grep -q '^recorded 3 of 6' || fail "--force did not replace mine.lua"
expect 2 '--out takes one recording' card.json own.json --out x.json
head -c 300 card.json >broken.json
expect 1 'broken.json:5: broken JSON' broken.json
