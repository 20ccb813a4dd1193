#!/bin/sh
# import_space.sh PROGRAM: `tilewalk import --space` puts recordings on what a space file declares.
set -eu
program=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export TILEWALK_DB="$folder/db"

fail() {
    echo "import_space.sh: $*" >&2
    exit 1
}

# Numbers that are parts, a text, a flag, a ladder, and a constant.
cat >card.json <<'JSON'
{"device_name": "Card", "kernel_name": "k", "objective": "time",
"tune_params_keys": ["t_0", "t_1", "s", "f", "x", "arch"],
"tune_params": {"t_0": [1, 2, 4], "t_1": [1, 2, 4], "s": ["a", "b"], "f": [true, false], "x": [1, 8, 64], "arch": [90]},
"cache": {
"1,4,a,True,1,90": {"t_0": 1, "t_1": 4, "s": "a", "f": true, "x": 1, "arch": 90, "time": 4.0, "times": [3.0, 5.0]},
"2,2,b,False,8,90": {"t_0": 2, "t_1": 2, "s": "b", "f": false, "x": 8, "arch": 90, "time": 1.0},
"4,1,b,True,64,90": {"t_0": 4, "t_1": 1, "s": "b", "f": true, "x": 64, "arch": 90, "time": 2.0},
"2,2,a,True,8,90": {"t_0": 2, "t_1": 2, "s": "a", "f": true, "x": 8, "arch": 90, "time": "CompilationFailedConfig"}
}}
JSON
cat >card.lua <<'LUA'
local N = size("N", 4)
param.x = custom { values = { 64, 8, 1 }, neighbours = function(v) return v == 64 and { 1 } or v == 1 and { 64 } or {} end }
param.t = factors(N, 2)
param.s = categorical { "c", "b", "a" }
param.f = categorical { "false", "true" }
constraint("small first parts", function(c) return c.t[1] < 4 end)
constraint("no b with true", function(c) return c.s ~= "b" or c.f ~= "true" end)
LUA

"$program" import card.json --space card.lua --out own.json >text 2>err || fail "$(cat err)"
grep -q '^recorded 4 of 54, valid 3, compile 1$' text || fail "no counts: $(cat text)"
grep -q "warning: card.json: the constraints of space 'card' forbid 1 recorded .*entry 3: constraint 'small" err ||
    fail "no warning: $(cat err)"
[ "$(grep -vc 'do not lead' err)" = 1 ] || fail "more than one warning: $(cat err)"
for part in '{"name":"x","kind":"custom","values":[64,8,1],"edges":[[0,2]]}' \
    '{"name":"t","kind":"factorization","product":4,"parts":2}' \
    '{"config":[1,[1,4],"a","true"],"outcome":"ok","seconds":0.004,"runs":[0.003,0.005]' \
    '{"config":[64,[4,1],"b","true"],"outcome":"ok","seconds":0.002' \
    '{"config":[8,[2,2],"a","true"],"outcome":"compile"' '"name":"card","kernel":"k","device":"Card"'; do
    grep -qF "$part" own.json || fail "no $part in $(cat own.json)"
done
if grep -q arch own.json; then fail "the constant is still there"; fi

"$program" import card.json --space card.lua --json 2>err >json
grep -qF '"space":{"name":"card","forbidden":1}' json || fail "$(cat json)"
# What is on a space already, on the same one again: nothing changes, and nothing is inferred.
"$program" import own.json --space card.lua --out again.json >text 2>err
cmp -s own.json again.json || fail "the second time is another one"

"$program" compare own.json --strategy random,gbfs --trials 4 --repeats 2 --curves >json || fail "compare"
[ "$(grep -c '"recording":"card"' json)" = 2 ] || fail "replay: $(cat json)"
"$program" tune --source replay:own.json --strategy random --trials 3 --plain >text 2>&1 || fail "tune: $(cat text)"

expect() {
    code=$1 words=$2
    shift 2
    status=0
    "$program" import "$@" >out 2>err || status=$?
    sed -i '/do not lead from every/d' err
    [ $status = "$code" ] || fail "import $*: exit code $status: $(cat err)"
    grep -qF "tilewalk: $words" err || fail "import $*: $(cat err)"
    [ "$(wc -l <err)" = 1 ] || [ "$code" = 2 ] || fail "import $*: $(cat err)"
    [ ! -e x.json ] || fail "import $*: a file was written"
}
sed 's/param.s/param.ss/' card.lua >ss.lua
sed 's/param.x/param.y/' card.lua >y.lua
expect 1 "card.json: there is no parameter 'ss', which space 'ss' declares (did you mean 's'?)" card.json --space ss.lua --out x.json
expect 1 "card.json: there is no parameter 'y', which space 'y' declares" card.json --space y.lua
expect 1 "card.json: entry 1: parameter 't': [1,4] is none of its values in space 'card'" card.json --space card.lua --set N=8 --out x.json
expect 2 "--set NN=8: unknown size (did you mean 'N'?)" card.json --space card.lua --set NN=8
expect 2 '--set is for --space' card.json --set N=8
expect 2 "no file and no preset 'none.lua'" card.json --space none.lua
expect 2 'import: --rules is gone' card.json --rules card.json
