#!/bin/sh
# figures.sh BENCH PROGRAM: bench figures on very little. Its tables are what compare prints, and what is there is not made again.
set -eu
bench=$1 program=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
db=$folder/figures.db
failed=0

check() {
    what=$1
    shift
    "$@" && return
    echo "figures: $what"
    failed=1
}

make() {
    "$bench" --only opevo-mm1 --trials 6 --out "$folder" "$@" >/dev/null
}

count() {
    "$program" ls --json --db "$db" | grep -o '"note":"figure opevo-mm1' | wc -l
}

make --seeds 1
check 'a session of each strategy' [ "$(count)" = 6 ]
make --seeds 2
check 'those of the second seed only' [ "$(count)" = 12 ]
make --seeds 2
check 'none anew' [ "$(count)" = 12 ]

ids=$(sed -n 's/^`tilewalk compare \(.*\)`$/\1/p' "$folder/figures.md")
check 'all of them on the page' [ "$(echo "$ids" | wc -w)" = 12 ]
for axis in trials time; do
    name=opevo-mm1
    [ $axis = trials ] || name=opevo-mm1-time
    # shellcheck disable=SC2086 # a list of numbers
    "$program" compare $ids --against $axis --csv --db "$db" >"$folder/now.csv"
    grep -v '^#' "$folder/$name.csv" >"$folder/then.csv"
    check "$name.csv is what compare prints" cmp "$folder/now.csv" "$folder/then.csv"
    check "$name.csv says what it is of" grep -q '^# .*--trials 6.*seeds 1 to 2; trials of llvmpipe' "$folder/$name.csv"
    for ending in svg png md; do
        check "$name.$ending" [ -s "$folder/$name.$ending" ]
    done
done

# The family's table: means and goals as compare prints them, of opevo say.
"$program" compare $ids --csv --db "$db" >"$folder/now.csv"
mean=$(sed -n 's/^.,opevo:[^,]*,2,[^,]*,\([^,]*\),.*/\1/p' "$folder/now.csv")
check 'a mean of opevo' [ -n "$mean" ]
check 'the same mean in the table' grep -q "^mm1,600,\"opevo\",2,$mean," "$folder/opevo.csv"
words=$("$program" compare $ids --markdown --db "$db" | sed -n 's/^| . | 2 | [^|]* | \([^|]*\) |.*| opevo |$/\1/p')
check 'in the same words' grep -qF "| mm1 | 600 | $words |" "$folder/opevo.md"

# A page of prose takes what stands between its marks, and the pictures that it shows.
mkdir "$folder/docs" "$folder/docs/figures"
page=$folder/docs/page.md
printf 'before\n<!-- opevo.md -->\nold\n<!-- end -->\nafter ![x](figures/opevo-mm1.svg)\n' >"$page"
make --seeds 2 --page "$page"
check 'its table' grep -qF "| mm1 | 600 | $words |" "$page"
check 'what was there is gone' [ "$(grep -c old "$page")" = 0 ]
check 'its prose' [ "$(sed -n '1p;$p' "$page" | cut -d' ' -f1 | tr '\n' ' ')" = 'before after ' ]
check 'its picture' cmp "$folder/opevo-mm1.svg" "$folder/docs/figures/opevo-mm1.svg"
check 'a line for each run' [ "$(grep -c '^| `' "$folder/runs.md")" = 4 ]

# Killed in the midst of a session, it goes on with that one.
db=$folder/killed/figures.db
killed() {
    setsid "$bench" --only opevo-mm1 --seeds 1 --trials 100 --jobs 1 --out "$folder/killed" >/dev/null
}
killed &
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ ! -f "$db" ] || [ "$(count)" = 0 ] || break
    sleep 0.2
done
kill -9 -- "-$(pgrep -f -- "--out $folder/killed" | head -n 1)" 2>/dev/null || true
wait
make_killed() { "$bench" --only opevo-mm1 --seeds 1 --trials 100 --out "$folder/killed" >/dev/null; }
check 'what was killed goes on' make_killed
check 'each session once' [ "$(count)" = 6 ]
exit $failed
