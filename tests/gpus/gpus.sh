#!/usr/bin/env bash
# gpus.sh ROOT FOLDER [--kernels N | --choices | --loop] [NAME...]: a Markdown table of what compilers for GPUs make of random
# kernels of some presets, of one kernel with each of its choices, or of the main loop on matrix units; a NAME is a GPU's, a preset's or a space file's. Drivers and shims
# of Debian's backports and of sid are unpacked below FOLDER, with the C library that they need: nothing is installed.
set -euo pipefail

root=$1 folder=$2
shift 2
known=(navi21 navi31 gfx1201 turing ampere ada blackwell adreno apple dg2 bmg)
presets=(gemm gemm16 mm2 conv-direct depthwise softmax gemm-coop)
packages=(mesa-vulkan-drivers mesa-drm-shim vulkan-validationlayers glslang-tools patchelf)
suite= tree= libraries= # of the drivers that are used now
kernels=10 names=() wanted=() choices=$root/tests/gpus/choices work=compile_random

refuse() {
    echo "dev: $1" >&2
    exit 2
}

read_words() {
    while [ $# -gt 0 ]; do
        if [ "$1" = --kernels ]; then
            [[ ${2-} =~ ^[1-9][0-9]{0,3}$ ]] || refuse "--kernels needs a number from 1 to 9999"
            kernels=$2
            shift
        elif [ "$1" = --choices ]; then
            work=compile_choices
        elif [ "$1" = --loop ]; then
            work=compile_loops
        elif [[ " ${known[*]} " == *" $1 "* ]]; then
            names+=("$1")
        elif [[ $1 == *.lua && -f $1 || $1 =~ ^[a-z0-9-]+$ && -f $root/presets/$1.lua ]]; then
            wanted+=("$1")
        else
            refuse "no GPU, nor preset, '$1' (GPUs: ${known[*]})"
        fi
        shift
    done
    [ ${#names[@]} -gt 0 ] || names=("${known[@]}")
    [ ${#wanted[@]} = 0 ] || presets=("${wanted[@]}")
}

# Lists and packages of apt's are our own: the machine's sources, and what it has installed, have no say.
write_apt_settings() {
    mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial" "$folder/tree.new"
    local from
    for from in "$suite" "${suite%-backports}"; do
        echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $from main"
    done | sort -u >"$folder/apt/sources.list"
    cat >"$folder/apt/apt.conf" <<TEXT
Dir::State "$folder/apt"; Dir::State::status "/dev/null"; Dir::Cache "$folder/apt";
Dir::Etc::sourcelist "$folder/apt/sources.list"; Dir::Etc::sourceparts "/dev/null"; Dir::Etc::preferencesparts "/dev/null";
APT::Default-Release "$suite"; APT::Sandbox::User ""; APT::Architecture "amd64"; APT::Architectures { "amd64"; };
TEXT
}

# With all that they depend on. Once.
fetch() {
    [ ! -d "$tree" ] || return 0
    rm -rf "$folder/tree.new" "$folder/apt"
    write_apt_settings
    export APT_CONFIG=$folder/apt/apt.conf
    local all package
    apt-get update -qq
    all=$(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances \
        "${packages[@]}" | grep '^[a-z]' | sort -u)
    cd "$folder/apt/archives"
    # shellcheck disable=SC2086 # a list of words
    apt-get download -qq $all
    for package in *.deb; do
        dpkg-deb -x "$package" "$folder/tree.new"
    done
    cd "$root"
    rm -rf "$folder/apt"
    mv "$folder/tree.new" "$tree"
}

loaded_anew() {
    "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries" "$tree/usr/bin/patchelf" \
        --set-interpreter "$libraries/ld-linux-x86-64.so.2" --force-rpath --set-rpath "$libraries:/usr/lib/x86_64-linux-gnu" "$@"
}

# Libraries are named in the copies, not in the environment, where programs of the system would find them too.
make_program() {
    local driver=$1 shim=$2 manifest=$tree/usr/share/vulkan/icd.d/$1_icd.json
    rm -f "$folder/tilewalk-$driver" "$folder/glslang" # another run may be using them
    loaded_anew ${shim:+--add-needed "$shim"} --output "$folder/tilewalk-$driver" "$root/build/tilewalk"
    loaded_anew --output "$folder/glslang" "$tree/usr/bin/glslang"
    sed "s|\"library_path\": *\".*/*\(libvulkan_[a-z]*.so\)\"|\"library_path\": \"$libraries/\1\"|" "$manifest" >"$folder/$driver.json"
    export VK_DRIVER_FILES=$folder/$driver.json VK_ICD_FILENAMES=$folder/$driver.json
}

number() {
    sed -n "s/.*\"$1\":\([0-9.]*\).*/\1/p" <<<"$2"
}

# The text of a row: what `check --compile` counted, or why it did not.
tell() {
    local said=$1 errors=$2
    if [[ $said == '{'* ]]; then
        awk -v asked="$(number asked "$said")" -v compiled="$(number compiled "$said")" -v spilled="$(number spilled "$said")" \
            -v out="$(number left_out "$said")" -v times="$(number median "${said%%\"statistics\"*}") \
            $(number p90 "$said") $(number max "${said%%\"statistics\"*}")" -v messages="$(number validation_messages "$said")" 'BEGIN {
            split(times, ms, " ")
            share = spilled == "" || !compiled ? "-" : sprintf("%.0f %%", 100 * spilled / compiled)
            printf "%d of %d | %d | %s | %s | %.0f | %.0f | %.0f | %d |\n", compiled, asked, asked - compiled, share,
                out == "" ? "-" : out, ms[1], ms[2], ms[3], messages
        }'
    else
        echo "none: $(tail -n 1 <<<"$errors" | sed 's/^tilewalk: //; s/^.*\.lua:[0-9]*: //; s/ (.*//; s/|/ /g') | - | - | - | - | - | - | - |"
    fi
}

# statistic NAME... of what `check --compile` said, by whatever name the driver has for it.
statistic() {
    local said=$1 name
    shift
    for name in "$@"; do
        sed -n "s/.*{\"name\":\"$name\",\"median\":\([0-9]*\).*/\1/p" <<<"$said"
    done | head -n 1
}

# tell_choice GPU WHAT SIZE MULTIPLY-ADDS SAID
tell_choice() {
    local said=$5 instructions
    instructions=$(statistic "$said" Instructions 'Instruction count' 'Instruction Count')
    if [ -z "$instructions" ]; then
        echo "| $1 | $2 | $3 | no kernel | - | - | - | - | - |"
        return
    fi
    echo "| $1 | $2 | $3 | $instructions | $(awk -v n="$instructions" -v of="$4" 'BEGIN { printf "%.2f", n / of }') |" \
        "$(statistic "$said" VGPRs 'Number of GPRs' 'Max live registers') |" \
        "$(statistic "$said" 'Spilled VGPRs' 'SLM Size' 'Spill Count') |" \
        "$(statistic "$said" 'LDS size' 'Workgroup Memory Size') |" \
        "$(statistic "$said" Latency 'Cycle Count') |"
}

# Each line of the list: a space of one point, the multiply-adds that it writes out, what is set. Lines begin with # to say why.
compile_choices() {
    local name=$1 program=$2 space of settings size said
    while read -r space of settings; do
        [[ -n $space && $space != '#'* ]] || continue
        [[ ${#wanted[@]} = 0 || " ${wanted[*]} " == *" $space "* ]] || continue
        for size in 512 2048 2047; do
            # shellcheck disable=SC2086 # a list of words
            said=$("$program" check "$choices/$space.lua" --compile 1 --device 0 --json $(printf ' --set %s' $settings) \
                --set size=$size 2>"$folder/errors") || said=
            tell_choice "$name" "\`$space\` $settings" "$size" "$of" "$said"
        done
    done <"$choices/list"
}

# Products on matrix units, 4 x 4 fragments a subgroup with the next tile in registers; 2 x 2 where the device has not so many
# registers. The instructions of the main loop are counted by kind (loop.py). Types that the device or the compiler does not know have no
# rows: of bf16 and f8 there are some with a glslang 15.4 or newer, which TILEWALK_GLSLANG names.
compile_loops() {
    local name=$1 program=$2 type how many
    export NAK_DEBUG=print RADV_DEBUG=asm,nocache INTEL_DEBUG=cs
    for type in f16 i8 bf16 f8e4m3 f8e5m2; do
        for how in 'layout=nt' 'layout=nn' 'layout=nn transpose=staged' 'layout=tn transpose=staged'; do
            for many in 'rows=4 columns=4 stage=prefetch' 'rows=2 columns=2 stage=shared'; do
                # shellcheck disable=SC2086,SC2046 # lists of words
                if "$program" check "$choices/coop.lua" --compile 1 --verbose --device 0 --set skew=1 \
                    $(printf ' --set %s' "type=$type" $how $many) >"$folder/loop.log" 2>&1; then
                    echo "| $name | $type, ${how//layout=/} | ${many// stage=*/} $(python3 "$root/tests/gpus/loop.py" <"$folder/loop.log")"
                    break
                fi
            done
        done
    done
}

compile_random() {
    local name=$1 program=$2 preset said
    for preset in "${presets[@]}"; do
        said=$("$program" check "$preset" --compile "$kernels" --device 0 --validate --json 2>"$folder/errors") || true
        echo "| $name | \`$preset\` | $(tell "$said" "$(cat "$folder/errors")")"
    done
}

# NVIDIA's newest chips open with the newest Mesa alone, AMD's do with that of the backports.
use_suite() {
    case $1 in
    turing | ampere | ada | blackwell) suite=sid ;;
    *) suite=trixie-backports ;;
    esac
    tree=$folder/$suite libraries=$folder/$suite/usr/lib/x86_64-linux-gnu
}

compile_for() (
    local name=$1 driver=nouveau shim=$libraries/libnouveau_noop_drm_shim.so
    case $name in
    navi* | gfx*) driver=radeon shim=$libraries/libamdgpu_noop_drm_shim.so && export AMDGPU_GPU_ID=$name ;;
    turing) export NOUVEAU_CHIPSET=0x164 ;;
    ampere) export NOUVEAU_CHIPSET=0x174 ;;
    ada) export NOUVEAU_CHIPSET=0x194 ;;
    blackwell) export NOUVEAU_CHIPSET=0x1b2 ;;
    adreno) driver=freedreno shim=$libraries/libfreedreno_noop_drm_shim.so ;;
    apple) driver=asahi shim=$libraries/libasahi_noop_drm_shim.so ;;
    *)
        driver=intel shim=$folder/libintel_noop_drm_shim.so
        export INTEL_STUB_GPU_PLATFORM=$name INTEL_FORCE_PROBE='*'
        ;;
    esac
    if [ -n "$shim" ] && [ ! -f "$shim" ]; then
        echo "dev: $name is skipped: ${shim#"$root/"} is not there, no package has it (docs/internals/gpus.md says how to build it)" >&2
        return
    fi
    export VK_LAYER_PATH=$tree/usr/share/vulkan/explicit_layer.d
    make_program "$driver" "$shim"
    $work "$name" "$folder/tilewalk-$driver"
)

read_words "$@"
mkdir -p "$folder"
for name in "${names[@]}"; do
    use_suite "$name"
    set +e # in a condition it would be off inside of the function too
    (
        set -e
        fetch
    ) >"$folder/fetch.log" 2>&1
    fetched=$?
    set -e
    if [ $fetched != 0 ]; then
        echo "dev: GPUs are skipped, as drivers cannot be fetched: $(tail -n 1 "$folder/fetch.log")" >&2
        exit 0
    fi
done
"$root/dev" build >&2
export TILEWALK_DATA=$root TILEWALK_GLSLANG=${TILEWALK_GLSLANG-$folder/glslang}
export VK_LOADER_LAYERS_DISABLE='~implicit~' MESA_SHADER_CACHE_DISABLE=true
if [ $work = compile_random ]; then
    echo '| GPU | preset | compiled | refused | spill | left out | ms median | p90 | max | messages |'
    echo '|---|---|---|---|---|---|---|---|---|---|'
elif [ $work = compile_loops ]; then
    echo '| GPU | product | fragments | matrix | fragment loads | moves | together | to stage | shared stores | memory | all |'
    echo '|---|---|---|---|---|---|---|---|---|---|---|'
else
    echo '| GPU | choice | size | instructions | a multiply-add | registers | spills | shared bytes | cycles |'
    echo '|---|---|---|---|---|---|---|---|---|'
fi
for name in "${names[@]}"; do
    use_suite "$name"
    compile_for "$name"
done
