#!/bin/sh
# What `./dev gpus` says where it cannot do its work: a line, and nothing left half fetched.
here=$(cd "$(dirname "$0")" && pwd) || exit 1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

# expect STATUS WORDS ARGUMENT...
expect() {
    status=$1 words=$2
    shift 2
    said=$(PATH="$folder/bin:$PATH" bash "$here/gpus.sh" "$here/../.." "$folder/gpus" "$@" 2>&1)
    code=$?
    if [ $code != "$status" ] || [ "$said" != "$words" ]; then
        printf '%s: %s (expected %s):\n%s\n' "$*" $code "$status" "$said"
        exit 1
    fi
}

mkdir "$folder/bin"
printf '#!/bin/sh\necho "E: no network" >&2\nexit 100\n' >"$folder/bin/apt-get"
chmod +x "$folder/bin/apt-get"

expect 2 "dev: no GPU, nor preset, 'voodoo2' (GPUs: navi21 navi31 gfx1201 turing ampere ada blackwell adreno apple dg2 bmg)" voodoo2
expect 2 'dev: --kernels needs a number from 1 to 9999' --kernels 0
expect 2 'dev: --kernels needs a number from 1 to 9999' --kernels
expect 0 'dev: GPUs are skipped, as drivers cannot be fetched: E: no network' navi31
[ ! -d "$folder/gpus/trixie-backports" ] || exit 1
