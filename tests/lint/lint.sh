#!/bin/sh
# lint.sh [ROOT]: layout, include table, sizes and variables of the tree. Exit 1 with the complaints when one fails; 77 (skipped, in
# Meson's words) when the rest holds but clang-format is missing.

# shellcheck disable=SC2086 # lists of names, which hold neither spaces nor patterns
here=$(cd "$(dirname "$0")" && pwd) || exit 1
cd "${1:-$here/../..}" || exit 1

set -f # the lists of names below are split into words, nothing else
sources=$(for folder in src ui docs tests; do [ ! -d $folder ] || find $folder -name '*.[ch]'; done | sort)
product=$(echo "$sources" | grep -v '^tests/')
tests=$(echo "$sources" | grep '^tests/')
failed=0

check() {
    title=$1
    shift
    complaints=$("$@" 2>&1) && return
    failed=1
    printf '%s:\n%s\n' "$title" "$complaints"
}

check 'include table' awk -f "$here/includes.awk" "$here/includes.table" $sources
# Apart, so that many short tests do not make up for long functions of the program.
check 'sizes' awk -f "$here/sizes.awk" $product
[ -z "$tests" ] || check 'sizes of tests' awk -f "$here/sizes.awk" $tests

check 'variables' awk -f "$here/statics.awk" "$here/statics.table" $product

headers=$(echo "$sources" | grep '\.h$')
[ -z "$headers" ] || check 'prototypes and examples in headers' awk -f "$here/examples.awk" $headers

records() {
    sh "$here/records.sh" . | diff -u docs/records/README.md -
}
[ ! -d docs/records ] || check 'docs/records/README.md (./dev records makes it)' records

# The version is meson.build's, which these repeat.
versions() {
    version=$(sed -n "s/^  version: '\(.*\)',$/\1/p" meson.build)
    for line in "CITATION.cff:version: $version" "CHANGELOG.md:## $version " "docs/packaging/debian/changelog:tilewalk ($version-"; do
        grep -m 1 '^version: \|^## \|^tilewalk (' "${line%%:*}" | grep -qF "${line#*:}" || echo "${line%%:*} is not of version $version"
    done | grep . && return 1
    return 0
}
[ ! -f CITATION.cff ] || check 'versions' versions

# REUSE wants the licence's text in a folder of its own, which only this copy has.
licences() {
    copy=$(mktemp -d)
    git ls-files -z | xargs -0 ls -d 2>/dev/null | tar -cf - -T - | tar -C "$copy" -xf - && mkdir "$copy/LICENSES" && cp LICENSE "$copy/LICENSES/MIT.txt"
    reuse --root "$copy" lint --quiet || reuse --root "$copy" lint --lines
    status=$?
    rm -rf "$copy"
    return $status
}
if [ -f REUSE.toml ] && command -v reuse >/dev/null && git rev-parse --git-dir >/dev/null 2>&1; then
    check 'licences (REUSE.toml)' licences
fi

# What a change of words has to touch: sentences that tests hold the program to, and pictures of screens.
check 'quoted sentences' awk -v most=400 -f "$here/phrases.awk" $tests
goldens() {
    count=$(find tests/ui/golden -name '*.txt' 2>/dev/null | wc -l)
    [ "$count" -le 60 ] || {
        echo "$count golden screens, at most 60 are wanted"
        false
    }
}
check 'golden screens' goldens

# Pages: links that lead somewhere, and lines that can be read. Rows of tables and what is quoted in blocks cannot be broken; between
# two marks stands what a benchmark wrote; an entry of the list of changes is a line.
pages=$(find . -name '*.md' -not -path './build*' | sed 's|^\./||' | sort)
wide_lines() {
    for page in $(echo "$pages" | grep -vx CHANGELOG.md); do
        sed '/^<!-- [a-z-]*\.md -->/,/^<!-- end/s/.*//' "$page" | LC_ALL=C.UTF-8 grep -nE '^.{121,}$' | grep -vE '^[0-9]*:(\||    )' |
            sed "s|^\([0-9]*\):.*|$page:\1: more than 120 columns|"
    done
}
short_readme() {
    [ "$(wc -l <README.md)" -le 110 ] || echo 'README.md:111: more than 110 lines'
    LC_ALL=C.UTF-8 grep -nE '^.{101,}$' README.md | sed 's|^\([0-9]*\):.*|README.md:\1: more than 100 columns|'
}
told() {
    "$@" | grep . && return 1
    return 0
}
if [ -n "$pages" ]; then
    check 'links of pages' awk -f "$here/links.awk" $pages $pages
    check 'lines of pages' told wide_lines
fi
[ ! -f README.md ] || check 'README' told short_readme

# clang-format is told to leave comments alone: it would flow the columns of examples together.
wide_comments() {
    ! grep -nE '^.{101,}$' $sources | grep -E '^[^:]*:[0-9]*:[^"]*//'
}
check 'comments of over 100 columns' wide_comments

# A comment names its subject and begins with it or with a verb ("Returns the ...").
clipped_comments() {
    ! grep -nE '^ *// (Of|Whether|What) ' $product
}
check 'comments without a subject' clipped_comments

if command -v clang-format >/dev/null; then
    check 'layout (clang-format -i FILE mends it)' clang-format --dry-run -Werror $sources
elif [ $failed = 0 ]; then
    echo 'clang-format is missing: layout not checked'
    exit 77
fi
[ $failed = 1 ] || echo "lint: $(echo "$sources" | wc -l) files, nothing to complain about"
exit $failed
