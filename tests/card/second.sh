#!/usr/bin/env bash
# second.sh [OUT]: quantised products, convolutions, attention and a network in half precision; last, what ggml's products reach.
. "$(dirname "${BASH_SOURCE[0]}")/rows.sh"

rows=32000 depth=4096 trials=24 image=() attention=(--set heads=32 --set N=512 --set M=512 --set dim=128) network=(--trials 140 --seconds 110)
if [ -n "${CARD_SMALL-}" ]; then
    rows=256 depth=256 trials=4 attention=() network=(--set image=32 --trials 108 --seconds 20)
    image=(--set batch=1 --set height=8 --set width=8 --set in_channels=8 --set out_channels=8)
fi

prepare
line peaks 40 "$tilewalk" devices --roof # else the first session measures them within its own limit
line torch 60 python3 "$card/vendor.py" layers
for blocks in q4_0 q4_K; do
    tune "quantised, $blocks" 20 matmul-quantised --set blocks=$blocks --set N=$rows --set K=$depth --trials $trials --seconds 12
done
for layout in nchw nhwc; do
    tune "convolution f16 $layout" 30 conv-implicit "${image[@]}" --set type=f16 --set layout=$layout --trials $trials --seconds 15
done
tune 'convolution f16 nchw, Winograd' 30 conv-winograd "${image[@]}" --set type=f16 --trials $trials --seconds 15
tune 'attention f16' 40 flash-attention "${attention[@]}" --set type=f16 --trials $trials --seconds 25
tune 'ResNet-50 f16' 150 resnet50 --set type=f16 "${network[@]}"
if [ -d "$work/ggml" ]; then
    for type in q4_0 q8_0 q4_K; do
        tune "ggml, $type" 30 ggml-mul-mat-vec --set ggml="$work/ggml" --set type=$type --set M=$rows --set K=$depth --trials $trials --seconds 20
    done
fi
finish
