#!/usr/bin/env python3
"""judge.py PROGRAM [NAME...]: thirty wrong kernels and ten right ones, each the .comp of this folder with a change of this table;
`judge` finds the wrong ones, each with a reason, and accuses none of the right ones."""
import json
import os
import subprocess
import sys
import tempfile

# kernel, space, name, the change (old, new)...
RIGHT = [
    ("product", "product", "plain"),
    ("product", "product", "backwards", ("uint k = 0; k < K; k++", "int k = int(K) - 1; k >= 0; k--")),
    ("product", "product", "fma", ("sum += a[row * K + k] * b[k * M + column]", "sum = fma(a[row * K + k], b[k * M + column], sum)")),
    ("product", "product", "through scratch", ("c[row * M + column] = sum", "kept[row * M + column] = sum;\n    c[row * M + column] = kept[row * M + column]")),
    ("tiled", "product", "tiled"),
    ("tiled", "product", "clamped loads", ("row < N && at + x < K ? a[row * K + at + x] : 0.0", "at + x < K ? a[min(row, N - 1) * K + at + x] : 0.0")),
    ("rows", "rows", "rows"),
    ("rows", "rows", "reciprocal", ("- most) / part[0]", "- most) * (1.0 / part[0])")),
    ("turned", "turned", "turned"),
    ("turned", "turned", "without a pad", ("tile[16][17]", "tile[16][16]")),
]
WRONG = [
    # off by one at edges
    ("product", "product", "last of K left out", ("k < K;", "k < K - 1;")),
    ("product", "product", "begins at 1", ("uint k = 0;", "uint k = 1;")),
    ("product", "product", "last column left out", ("column >= M)", "column >= M - 1)")),
    ("product", "product", "one column too many", ("column >= M)", "column > M)")),
    ("product", "product", "one row too many", ("row >= N ", "row > N ")),
    ("tiled", "product", "last tile left out", ("at < K; at += 8", "at + 8 < K; at += 8")),
    ("tiled", "product", "tile without its last", ("k < 8; k++", "k < 7; k++")),
    ("rows", "rows", "row without its last", ("k < COLUMNS; k += 32)\n        sum", "k < COLUMNS - 1; k += 32)\n        sum")),
    ("turned", "turned", "reads behind the end", ("at.x + i < COLUMNS && at.y + j < ROWS", "at.y + j <= ROWS")),
    # races between invocations
    ("tiled", "product", "no barrier behind the loads", ("        barrier();\n        for (uint k", "        for (uint k")),
    ("tiled", "product", "no barrier behind the sums", ("        barrier();\n    }\n", "    }\n")),
    ("tiled", "product", "one place for all", ("left[y][x] =", "left[y][0] ="), ("left[y][k]", "left[y][0]")),
    ("rows", "rows", "no barrier before the most", ("    barrier();\n    for (uint other", "    for (uint other")),
    ("rows", "rows", "no barrier in the sum", ("i + half_of];\n        barrier();", "i + half_of];")),
    ("turned", "turned", "no barrier", ("    barrier();\n", "")),
    ("product", "product", "all write one number", ("c[row * M + column] = sum", "c[row * M] = sum")),
    # reads before writes
    ("product", "product", "adds to the output", ("c[row * M + column] = sum", "c[row * M + column] += sum")),
    ("product", "product", "begins with the output", ("float sum = 0.0", "float sum = c[row * M + column]")),
    ("product", "product", "begins with scratch", ("float sum = 0.0", "float sum = kept[row * M + column]")),
    ("rows", "rows", "begins with the row's output", ("float sum = 0.0", "float sum = y[row * COLUMNS]")),
    # constants computed for one input, or for one shape
    ("product", "product", "K of this shape", ("K = ${K}", "K = 48")),
    ("product", "product", "M of this shape", ("M = ${M}", "M = 36")),
    ("product", "product", "small whole numbers", ("a[row * K + k] *", "float(int(a[row * K + k])) *")),
    ("rows", "rows", "the most of one input", ("sum += exp(x[row * COLUMNS + k] - most)", "sum += exp(x[row * COLUMNS + k] - x[row * COLUMNS]) * exp(min(x[row * COLUMNS] - most, -1.0))")),
    ("rows", "rows", "all alike", ("exp(x[row * COLUMNS + k] - most) / part[0]", "1.0 / COLUMNS")),
    # results kept in a buffer that persists
    ("product", "product", "kept from the first run", ("    float sum = 0.0;", "    if (floatBitsToUint(kept[N * M]) == 0x1234u) {\n        c[row * M + column] = kept[row * M + column];\n        return;\n    }\n    float sum = 0.0;"),
     ("c[row * M + column] = sum;", "c[row * M + column] = kept[row * M + column] = sum;\n    if (row == N - 1 && column == M - 1)\n        kept[N * M] = uintBitsToFloat(0x1234u);")),
    ("product", "product", "kept in the output", ("    float sum = 0.0;", "    if (c[row * M + column] != 0.0)\n        return;\n    float sum = 0.0;")),
    # writes to inputs
    ("product", "product", "writes to an input", ("binding = 0) readonly buffer", "binding = 0) buffer"), ("    float sum = 0.0;", "    a[row * K] = 1.0;\n    float sum = 0.0;")),
    ("tiled", "product", "writes back what it read", ("binding = 1) readonly buffer", "binding = 1) buffer"), ("        barrier();\n        for", "        b[0] = b[0];\n        barrier();\n        for")),
    ("rows", "rows", "its input as scratch", ("binding = 0) readonly buffer", "binding = 0) buffer"), ("    float sum = 0.0;", "    x[row * COLUMNS] = most;\n    float sum = 0.0;")),
]

program, only = os.path.realpath(sys.argv[1]), sys.argv[2:]
here = os.path.dirname(os.path.abspath(__file__))
failed = judged = 0
if "[]" in subprocess.run([program, "devices", "--json"], capture_output=True, text=True).stdout[:4]:
    print("there is no Vulkan device")
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    for wanted, table in (("right", RIGHT), ("wrong", WRONG)):
        for kernel, space, name, *changes in table:
            if only and name not in only:
                continue
            with open(os.path.join(here, kernel + ".comp")) as file:
                text = file.read()
            for old, new in changes:
                if text.count(old) != 1:
                    sys.exit("%s: '%s' is not in it once" % (name, old))
                text = text.replace(old, new)
            for file, content in ((space + ".lua", open(os.path.join(here, space + ".lua")).read()), ("judged.comp", text),
                                  ("kernel.comp", open(os.path.join(here, kernel + ".comp")).read())):
                with open(os.path.join(folder, file), "w") as out:
                    out.write(content)
            run = subprocess.run([program, "judge", "judged.comp", "--space", space + ".lua", "--seed", "5", "--runs", "24", "--json"],
                                 cwd=folder, capture_output=True, text=True)
            try:
                answer = json.loads(run.stdout)
            except ValueError:
                answer = {"verdict": run.stderr.strip(), "reasons": []}
            judged += 1
            fine = answer["verdict"] == wanted and run.returncode == {"right": 0, "wrong": 3}[wanted]
            if wanted == "wrong":
                fine = fine and len(answer["reasons"]) == 1 and answer["reasons"][0]["text"]
            if not fine or only:
                print("%s (%s): exit %d, %s %s" % (name, wanted, run.returncode, answer["verdict"], answer["reasons"]))
            failed += not fine
print("%d judged, %d misjudged" % (judged, failed))
sys.exit(failed > 0 or not judged or (not only and (len(RIGHT), len(WRONG)) != (10, 30)))
