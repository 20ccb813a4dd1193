#!/usr/bin/env bash
# first.sh [OUT]: peaks, torch, matrices of a workgroup, spellings of matrices, layouts, tiles, sums, f32 from 8 x 8 an invocation, i8, products
# with a vector, bf16 and f8. In small, CARD_UNITS says which units there are (emulated).
. "$(dirname "${BASH_SOURCE[0]}")/rows.sh"

n=4096 rows=32000 starts=$work/starts units=() group=nv2 begun=45 found=24 newer=()
if [ -n "${CARD_SMALL-}" ]; then
    n=64 rows=256 starts=$work/starts/small units=(--set "units=${CARD_UNITS-emulated}") group=nv2-emulated begun=4 found=4
fi
[ ! -f "$card/glslang-new" ] || newer=(--glslang "$card/glslang-new" --no-sandbox)
size=(--set N=$n --set M=$n --set K=$n)
given=(--strategy random "${size[@]}" "${units[@]}")

# many FILE: how many configurations it has.
many() {
    grep -c '"configuration":' "$1"
}

# coop NAME START OPTION...: gemm-coop with the configurations of a file, and no others. With layout=nt nothing is transposed.
coop() {
    local name=$1 start=$starts/$2.json
    shift 2
    if [[ $* = *layout=nt* ]]; then
        sed '/"transpose": "staged"/d; s/"transpose": "none", //' "$start" >"$work/nt.json"
        start=$work/nt.json
    fi
    tune "$name" 45 gemm-coop "${given[@]}" --warm-start "$start" --trials "$(many "$start")" "$@"
}

# group NAME OPTION...: gemm-coop with matrices of a workgroup, where its search begins.
group() {
    local name=$1
    shift
    tune "$name, matrices of a workgroup" 30 gemm-coop "${size[@]}" --set units=$group --trials 4 "$@"
}

prepare
line doctor 30 "$tilewalk" doctor
line devices 20 "$tilewalk" devices
line peaks 40 "$tilewalk" devices --roof
line torch 60 python3 "$card/vendor.py" products
group 'f16 nn'
coop 'f16 nn' coop-f16
[ ! -f "$card/glslang-nv" ] || coop 'f16 nn, another glslang' coop-spelling --glslang "$card/glslang-nv" --no-sandbox
coop 'f16 nt' coop-f16 --set layout=nt
coop 'f16 nn, sums in f16' coop-f16-sums --set accumulate=f16
tune 'f32 nn' 50 gemm "${size[@]}" --warm-start "$starts/gemm-f32.json" --trials $begun --seconds 35
coop 'i8 nt' coop-i8 --set type=i8 --set layout=nt
coop 'i8 nn' coop-i8 --set type=i8
group 'i8 nn' --set type=i8
for columns in 1 8; do
    tune "f16 by $columns" 30 skinny --set type=f16 --set N=$rows --set K=$n --set M=$columns --trials $found --seconds 20
done
coop 'bf16 nn' coop-f16-sums --set type=bf16 "${newer[@]}"
coop 'f8e4m3 nn' coop-i8 --set type=f8e4m3 "${newer[@]}"
finish
