#!/usr/bin/env python3
"""Records the landscapes of a network (README.md): random points of each task, on the device here.

    nice -n 19 tests/bench/landscapes/record.py build/tilewalk FOLDER [TRIALS]

TRIALS (12000) are those of all tasks together. What is interrupted goes on when it is called again: the database stays in FOLDER.
Of each configuration the least time is kept, with four digits.
"""
import json
import os
import subprocess
import sys

program, folder = map(os.path.abspath, sys.argv[1:3])
trials = sys.argv[3] if len(sys.argv) > 3 else "12000"
network = os.path.join(os.path.dirname(os.path.abspath(__file__)), "alexnet.lua")
os.makedirs(folder, exist_ok=True)
environment = dict(os.environ, TILEWALK_DB=os.path.join(folder, "landscapes.db"))


def tilewalk(*words, **how):
    return subprocess.run([program, *words], env=environment, check=True, text=True, **how)


def shown(number):
    return json.loads(tilewalk("show", number, "--json", stdout=subprocess.PIPE).stdout)["session"]


def without_runs(line):
    if not line.startswith(' {"config"'):
        return line
    entry, end = json.JSONDecoder().raw_decode(line[1:])
    kept = {name: entry[name] for name in ("config", "outcome")}
    if "seconds" in entry:
        kept["seconds"] = float(f"{min([entry['seconds'], *entry.get('runs', [])]):.4g}")
    return " " + json.dumps(kept, separators=(",", ":")) + line[1 + end:]


if not os.path.exists(environment["TILEWALK_DB"]):
    tilewalk("tune", network, "--strategy", "random", "--scheduler", "roundrobin", "--seed", "1",
             "--trials", trials, "--plain")
elif shown("1")["state"] != "done":
    tilewalk("resume", "1", "--trials", trials, "--plain")
for task in shown("1")["tasks"]:
    tilewalk("export", str(task["session"]), "--recording", "--out", folder, "--name", task["name"], "--force")
    path = os.path.join(folder, task["name"] + ".json")
    with open(path) as file:
        lines = file.read().split("\n")
    with open(path, "w") as file:
        file.write("\n".join(map(without_runs, lines)))
    subprocess.run(["xz", "-9e", "--force", path], check=True)
