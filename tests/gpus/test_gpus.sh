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

# count WORDS: what loop.awk says of the assembly on its standard input.
count() {
    said=$(awk -f "$here/loop.awk")
    [ "$said" = "$1" ] || { printf 'loop: %s (expected %s)\n' "$said" "$1"; exit 1; }
}

# A text that is taken back, an inner loop of loads, a loop whose block in the middle leaves it.
count '6 | 1 | 1 | 1 | 0 | 1 | 0 |' <<'TEXT'
NAK IR after calc_instr_deps
block.u 0 L1 [] -> {
  hmma.m16n8k16.f32 r1
  bra pT L1 // delay=1
}
NAK IR after calc_instr_deps
block.u 0 L1 [] -> {
  mov r1 0
}
block.u 1 L2 [0, 2] -> {
  r2 = ld.shared.b64 [r1]
  r3 = ffma r1 r2 r3
  bra !up0 L4
}
block.u 2 L3 [1] -> {
  @!p1 st.global.b32 [r1] r3
  exit
}
block.u 3 L4 [1] -> {
  r4 = hmma.m16n8k16.f32 r1 r2 r3
  r2 = ld.global.a64.b128 [r1] // delay=2
  bra pT L2 // delay=1
}
Stage: compute
TEXT
# A rotated loop is entered in its middle.
count '4 | 0 | 2 | 0 | 1 | 0 | 0 |' <<'TEXT'
Compute Shader
BB0:
\x09v_mov_b32 v1, 0 ; 00
\x09s_branch BB2 ; 00
BB1:
\x09ds_store_b32 v1, v2 ; 00
BB2:
\x09v_fma_f32 v1, v2, v3 ; 00
\x09v_dual_fmac_f32 v1, v2, v3 ; 00
\x09s_cbranch_scc0 BB1 ; 00
BB3:
\x09s_endpgm ; 00
TEXT
