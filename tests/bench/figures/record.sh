#!/bin/sh
# Records the landscapes of bench figures (README.md): every point of each space, in random order, on the device here.
#
#     nice -n 19 tests/bench/figures/record.sh build/tilewalk FOLDER
#
# What is interrupted goes on when it is called again: the databases stay in FOLDER.
set -eu
program=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
spaces=$(cd "$(dirname "$0")" && pwd)

# record NAME SPACE [OPTION...]
record() {
    name=$1 space=$2 db=$folder/$1.db
    shift 2
    [ ! -f "$folder/$name.json.xz" ] || return 0
    if [ -f "$db" ]; then
        "$program" resume 1 --plain --db "$db"
    else
        "$program" tune "$spaces/$space.lua" "$@" --strategy random --seed 1 --trials 5000 --plain --db "$db"
    fi
    "$program" export 1 --recording --out "$folder" --name "$name" --force --db "$db"
    xz -9e "$folder/$name.json"
}

record mm1 mm
record bmm1 bmm
record c1 conv --set stride=4
record c2 conv --set in_channels=4 --set height=9 --set width=9 --set kernel_h=5 --set kernel_w=5 --set padding=2
record mm2 mm --set M=256
record mm3 mm --set K=256
record bmm2 bmm --set layout=tn
record bmm3 bmm --set M=32 --set K=16 --set layout=nt
