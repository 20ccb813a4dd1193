#!/usr/bin/env python3
"""Searches from PyPI on recorded spaces, counted as `./dev bench search --standing` counts: tests/bench/rivals/rivals.sh FOLDER

A trial is a legal configuration that was not measured before, failed ones included. What is asked again gets its known
result, and what is illegal fails (CatCMA: the worst one); neither counts. The table is Markdown: optimum / best after so many trials.
"""
import gzip
import json
import pathlib
import sys

import cmaes
import numpy
import optuna

MARKS = [20, 50, 100, 200, 400]
MOST_ASKS = 20  # times the trials


class Recording:
    """A space as ordered values, and the speed of each legal configuration: optimum / its time, 0 where it failed."""

    def __init__(self, path):
        with (gzip.open if path.suffix == ".gz" else open)(path) as file:
            data = json.load(file)
        self.name = path.name.split(".")[0]
        keys = data["tune_params_keys"]
        self.values = [sorted(set(entry[k] for entry in data["cache"].values())) for k in keys]
        place = [{value: i for i, value in enumerate(values)} for values in self.values]
        time = {tuple(p[entry[k]] for p, k in zip(place, keys)): entry["time"] for entry in data["cache"].values()}
        best = min(t for t in time.values() if not isinstance(t, str))
        self.speed = {c: 0 if isinstance(t, str) else best / t for c, t in time.items()}


class Run:
    """What one search has measured."""

    def __init__(self, recording):
        self.recording, self.known, self.best, self.asks, self.share = recording, set(), 0, 0, []

    def measure(self, configuration):
        self.asks += 1
        speed = self.recording.speed.get(configuration, 0)
        if configuration in self.recording.speed and configuration not in self.known:
            self.known.add(configuration)
            self.best = max(self.best, speed)
            if len(self.known) in MARKS:
                self.share.append(self.best)
        return speed

    def is_over(self):
        return len(self.known) >= MARKS[-1] or self.asks >= MOST_ASKS * MARKS[-1]

    def shares(self):
        return self.share + [self.best] * (len(MARKS) - len(self.share))


def optuna_tpe(run, seed):
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    while not run.is_over():
        trial = study.ask()
        configuration = tuple(trial.suggest_int(f"p{i}", 0, len(v) - 1) for i, v in enumerate(run.recording.values))
        speed = run.measure(configuration)
        is_legal = configuration in run.recording.speed
        study.tell(trial, speed if is_legal else None, state=None if is_legal else optuna.trial.TrialState.FAIL)


def catcma_with_margin(run, seed):
    values = run.recording.values
    ladders = [i for i, v in enumerate(values) if len(v) > 2]
    switches = [i for i, v in enumerate(values) if len(v) == 2]
    search = None
    while not run.is_over():
        if search is None or search.should_stop():  # restarts
            search = cmaes.CatCMAwM(z_space=[list(range(len(values[i]))) for i in ladders] or None,
                                    c_space=[2] * len(switches) or None, seed=seed + run.asks)
        told = []
        for _ in range(search.population_size):
            solution = search.ask()
            configuration = [0] * len(values)
            for i, place in zip(ladders, solution.z if ladders else []):
                configuration[i] = int(place)
            for i, of_two in zip(switches, solution.c if switches else []):
                configuration[i] = int(numpy.argmax(of_two))
            told.append((solution, -run.measure(tuple(configuration))))
        search.tell(told)


RIVALS = {f"Optuna {optuna.__version__}, TPE": optuna_tpe, f"CatCMA with margin (cmaes {cmaes.__version__})": catcma_with_margin}


def main():
    folder, repeats = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    twins = ("-T4", "-KTT", "T1-")
    recordings = [Recording(p) for p in sorted(folder.glob("*.json*")) if not any(t in p.name for t in twins)]
    print(f"| {repeats} runs on each of {len(recordings)} | " + " | ".join(map(str, MARKS)) + " |\n|---|" + "---:|" * len(MARKS))
    for name, search in RIVALS.items():
        rows = []
        for recording in recordings:
            for seed in range(1, repeats + 1):
                run = Run(recording)
                search(run, seed)
                rows.append(run.shares())
        error = numpy.sqrt(sum(numpy.var(rows[i:i + repeats], axis=0, ddof=1) / repeats
                               for i in range(0, len(rows), repeats))) / len(recordings) if repeats > 1 else [0] * len(MARKS)
        print(f"| {name} | " + " | ".join(f"{m:.3f} ± {e:.3f}" for m, e in zip(numpy.mean(rows, axis=0), error)) + " |", flush=True)


main()
