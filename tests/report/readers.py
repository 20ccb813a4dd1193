#!/usr/bin/env python3
"""readers.py MODULE TABLE PROGRAM...: the module and the programs (C99, C++) find the same for 2000 problems on devices
that are drawn at random, and all kinds of things are found; the module refuses bad tables with one line each."""
import importlib.util
import random
import subprocess
import sys

spec = importlib.util.spec_from_file_location("tilewalk_tuned", sys.argv[1])
tuned = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tuned)
table = tuned.read(sys.argv[2])
draw = random.Random(3)
lines, expected, seen = [], [], set()
for _ in range(2000):
    name, driver = draw.choice((("Card 1", "Maker, 1.0"), ("Card 1", "Maker, 3"), ("Card 9", "Maker, 1"), ("Card 3", "Other, 1.0"),
                                ("Card µ", "Other"), ("Chip", ""), ("Card 1", "Third, 1"), ("", "")))
    limits = [draw.choice((0, 128, 256, 1024)), draw.choice((128, 1024)), 64, 64, draw.choice((16384, 32768, 65536)),
              draw.choice((0, 32)), draw.choice((0, 64)), draw.choice((0, 1))]
    sizes = {"K": draw.choice((0, 64, 100, 128)), "N": draw.randint(1, 200), "M": draw.choice((16, 999, draw.randint(1, 5000)))}
    kind, scale = draw.choice(("f32", "f16")), draw.choice(("", "", "0.25", "0.5"))
    lines.append("|".join(map(str, [name, driver, *limits, kind, *sizes.values(), scale])))
    device = tuned.Device(name, driver, limits[0], limits[1:4], limits[4], limits[5:7], ("f16",) if limits[7] else ()) if name else None
    problem = {"type": kind, **sizes, **({"scale": scale} if scale else {})}
    found = table.find("matmul", problem, device, {"tile": [-2]})
    likeness = ("same", "driver", "vendor", "any", "none").index(found.likeness)
    seen.add(found.likeness)
    expected.append("%s %d %d %d" % (found.entry["device_identity"] if found.entry else "-", likeness, found.distance,
                                     found.configuration["tile"][0]))
if len(seen) != 5:
    sys.exit("only these were found: %s" % seen)
for program in sys.argv[3:]:
    run = subprocess.run([program, sys.argv[2]], input="\n".join(lines) + "\n", capture_output=True, text=True)
    got = run.stdout.splitlines()
    if run.returncode or got != expected:
        wrong = [(line, a, b) for line, a, b in zip(lines, expected, got) if a != b]
        sys.exit("%s: exit %d, %d lines of %d; %s" % (program, run.returncode, len(got), len(expected), wrong[:3] or got[-1:]))

text = open(sys.argv[2], encoding="utf-8").read()
bad = [text[:n] for n in range(0, len(text) - 2, 97)]
bad += [text.replace('"version": 1', '"version": 2'), text.replace("1.5e-1", "NaN", 1), text.replace('"ms"', '"s"', 1),
        text.replace("\n]}", "," + text[text.index("[") + 1:text.rindex("]")] + "]}")]
for one in bad:
    try:
        tuned.loads(one)
    except ValueError as error:
        if not str(error) or "\n" in str(error):
            sys.exit("no line: %s" % error)
    else:
        sys.exit("a bad table was read: ..." + one[-60:])
