#!/usr/bin/env bash
# card.sh ROOT ARCHIVE TO: fills the folder TO with the bundle ARCHIVE, the Vulkan loader, the scripts and what they begin with.
set -euo pipefail

# The loaders are this system's. A bare machine may have none, and no xz either: the archive is gzip's.
here=$1/tests/card archive=$2 to=$3
rm -rf "$to"
mkdir -p "$to/loaders"
cp "$archive" "$to/bundle.tar.gz"
cp -r "$here/first.sh" "$here/second.sh" "$here/rows.sh" "$here/vendor.py" "$here/starts" "$to"
(cd "$to/loaders" && apt-get download -qq libvulkan1 libegl1 libglvnd0 libgl1 libglx0) ||
    echo "dev: the Vulkan loader cannot be fetched: the machine has to have it" >&2
program=$(command -v glslangValidator) && cp "$program" "$to/glslang-nv" # where it is older than 13, it knows the NV spelling alone
[ -z "${TILEWALK_GLSLANG-}" ] || cp "$(command -v "$TILEWALK_GLSLANG")" "$to/glslang-new" # for types that the bundle's does not know
[ -z "${GGML-}" ] || cp -r "$GGML" "$to/ggml"
echo "$to: $(du -sh "$to" | cut -f1); run there: bash first.sh OUT, then bash second.sh OUT (CARD_SMALL=1 rehearses)"
