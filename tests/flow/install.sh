#!/bin/sh
# install.sh MESON BUILD PREFIX DATADIR: installs the build below a temporary folder. The program there finds the files that were
# installed with it, from any directory and in an empty environment, and its manual page and completions are in place.
# The installed share is moved elsewhere once: then the program must miss its presets, or it had read those of the checkout.
set -u
meson=$1 build=$2 prefix=$3 data=$prefix/$4
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "failed: $1"
    exit 1
}

# The loader's variables stay: a sanitized program may need them.
program() {
    env -i PATH="$PATH" HOME="$folder/home" ${LD_PRELOAD:+LD_PRELOAD="$LD_PRELOAD"} \
        ${ASAN_OPTIONS:+ASAN_OPTIONS="$ASAN_OPTIONS"} ${LSAN_OPTIONS:+LSAN_OPTIONS="$LSAN_OPTIONS"} \
        "$folder$prefix/bin/tilewalk" "$@"
}

"$meson" install -C "$build" --no-rebuild --destdir "$folder" >"$folder/log" 2>&1 || {
    cat "$folder/log"
    fail 'meson install'
}

cd / || exit 1
program check mm1 --device none --json | grep -q '"size":"4152720"' || fail 'check mm1: not the points of the installed preset'
program check gemm --device none --glsl | grep -q '^#version 450' || fail 'check gemm: no GLSL from the installed templates'

mv "$folder$data/tilewalk" "$folder/elsewhere" || fail "no $data/tilewalk"
if [ ! -e "$data/tilewalk" ] && program check mm1 --device none >"$folder/log" 2>&1; then
    fail 'found a preset that was not installed'
fi

for file in man/man1/tilewalk.1 man/man1/tilewalk-tune.1 doc/tilewalk/README.md doc/tilewalk/docs/guide/spaces.md bash-completion/completions/tilewalk zsh/site-functions/_tilewalk \
    fish/vendor_completions.d/tilewalk.fish; do
    [ -s "$folder$data/$file" ] || fail "no $data/$file"
done
for file in "$folder$prefix/include/tilewalk_tuned.h" "$folder/elsewhere/tilewalk_tuned.py"; do
    [ -s "$file" ] || fail "no $file"
done
bash -n "$folder$data/bash-completion/completions/tilewalk" || fail 'the completion for bash'
[ ! -e "$folder$data/doc/tilewalk/docs/meson.build" ] || fail 'docs/meson.build is installed'
for page in "$folder$data"/man/man1/*; do # each link of a page leads to one
    for name in $(sed -n 's/^\.BR tilewalk\(\\-[a-z]*\)\{0,1\} (1),\{0,1\}$/tilewalk\1/p' "$page" | tr -d '\\'); do
        [ -s "$folder$data/man/man1/$name.1" ] || fail "$page: no page $name"
    done
done
if command -v groff >/dev/null; then
    warnings=$(for page in "$folder$data"/man/man1/*; do groff -man -ww -z -Tutf8 "$page"; done 2>&1)
    [ -z "$warnings" ] || fail "groff: $warnings"
fi
if command -v mandoc >/dev/null; then
    warnings=$(mandoc -Tlint "$folder$data"/man/man1/* 2>&1)
    [ -z "$warnings" ] || fail "mandoc: $warnings"
fi
