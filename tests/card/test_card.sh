#!/bin/sh
# The scripts of `./dev card`: no row stops the next, whether it fails or hangs, and each is told of.
here=$(cd "$(dirname "$0")" && pwd) || exit 1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "$1"
    cat "$folder/out/rows"
    exit 1
}

# has WORDS...: each is in a row.
has() {
    for words; do
        grep -q "$words" "$folder/out/rows" || fail "no row says: $words"
    done
}

cat >"$folder/tilewalk" <<'TEXT'
#!/bin/sh
case "$*" in
*hang*) exec sleep 60 ;;
*break*) echo 'tilewalk: it broke' >&2; exit 1 ;;
tune*) printf 'session 7  gemm\nbest  1 GFLOPS\n' ;;
*) echo "$@" ;;
esac
TEXT
chmod +x "$folder/tilewalk"
export CARD_PROGRAM="$folder/tilewalk" CARD_SMALL=1

cat >"$folder/rows" <<'TEXT'
set -- "$1/out"
. "$here/rows.sh"
prepare
tune hanging 1 hang
tune breaking 9 break
line nothing 9 false
tune working 9 gemm
most=$((SECONDS + 4))
tune late 9 gemm
finish
TEXT
here=$here bash "$folder/rows" "$folder" >"$folder/printed" 2>&1
has 'hanging: , status 124' 'breaking: , status 1' 'it broke' 'nothing: status 1' 'working: best  1 GFLOPS, status 0' 'late: left out' 'finished'
grep -q 'show 7 --csv' "$folder/out/trials.csv" || fail 'no trials'

for script in first second; do
    rm -rf "$folder/out"
    bash "$here/$script.sh" "$folder/out" >"$folder/printed" 2>&1 || fail "$script.sh: status $?"
    has 'prepared' '^torch: ' 'f16.*best  1 GFLOPS, status 0' 'finished'
done
has 'ResNet-50 f16: best'
bad=$(grep -c 'status [1-9]' "$folder/out/rows")
[ "$bad" -le 1 ] || fail 'rows failed' # torch may be missing

# --- the folder to carry ---
echo archive >"$folder/archive"
if ! "$here/card.sh" "$here/../.." "$folder/archive" "$folder/carry" >"$folder/out/rows" 2>&1 || [ ! -f "$folder/carry/second.sh" ] ||
    ! cmp -s "$folder/archive" "$folder/carry/bundle.tar.gz"; then
    fail "the folder is not filled"
fi
echo 'ok: the folder has what is carried'
