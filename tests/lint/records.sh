#!/bin/sh
# records.sh ROOT: docs/records/README.md, made from the reports that lie beside it (`./dev records` writes it, lint compares).
set -eu
cd "$1/docs/records"
cat <<'TEXT'
# Records

What `tilewalk prove` found on devices, a line for each archive in this folder; `./dev records` makes this page from
them. To add one: run `tilewalk prove` there (a bundle is enough: `./dev bundle` makes one), put its
`tilewalk-report-DEVICE.tar.xz` here, run `./dev records`. An archive holds a page (`report.md`), the same as JSON, and
recordings of what was measured, for `tilewalk replay`.

Kernels are random ones of all presets and types; unsteady is by how much one kernel's time differed after idle, in
another process and with several workers. Products and convolutions are those of the archive's page: 4096 cubed and so
on, on CPU devices small ones.

| device | driver | tilewalk | kernels right / wrong / failed | unsteady | gemm f32 | gemm f16 | convolution | depthwise | report |
|---|---|---|---:|---:|---:|---:|---:|---:|---|
TEXT
for archive in *.tar.xz; do
    [ -f "$archive" ] || continue
    row=$(tar -xJOf "$archive" --wildcards '*/report.md' | sed -n 's/^<!-- record: \(.*\) -->$/\1/p')
    [ -n "$row" ] || {
        echo "docs/records/$archive is no report of tilewalk prove" >&2
        exit 1
    }
    echo "$row [$archive]($archive) |"
done
