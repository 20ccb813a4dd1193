#!/bin/sh
# kubernetes.sh: the manifest of docs/fleet, by kubernetes-validate (PyPI), which has to find a planted mistake too.
manifest=$(cd "$(dirname "$0")/../../docs/fleet" && pwd)/kubernetes.yaml || exit 1
command -v kubernetes-validate >/dev/null || {
    echo 'skipped: there is no kubernetes-validate (pip install kubernetes-validate)'
    exit 77
}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
sed 's/replicas:/replica:/' "$manifest" >"$folder/wrong.yaml"
if kubernetes-validate --strict "$folder/wrong.yaml" >/dev/null 2>&1; then
    echo 'a planted mistake was not found'
    exit 1
fi
kubernetes-validate --strict "$manifest"
