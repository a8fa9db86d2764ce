#!/usr/bin/env python3
"""The kernel's TCP in real time beside ours in virtual time, over the same links with the same seeds:

    contrib/kernel-tcp.py [--scenarios NAMES] [--with NAMES] [--runs N] [--size SIZE] [--time-limit TIME]
                          [--jobs N] [--skyhaul FILE] [--out DIR]

Runs `skyhaul scoreboard --real` (root, or user namespaces) and `--simulated` for each pair of scenario and
controller, and prints a line for each: medians of both shares, the median of their ratio over the seeds (each of
ours by the kernel's with that seed) with the least and the most, and `far` where that median is off by more than a
tenth. --jobs: pairs at a time (1); more is fit only for links whose rates leave the machine idle. Runs are kept in
--out (a new folder unless said), and a second call with it goes on. Exit code 1 where a run failed.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SINGLE = (
    "geo,geo-noisy-1e-6,geo-noisy,thin-return,whisper-return,leo-handoff,leo-passes,starlink,scps,scps-noisy,"
    "steps,rain-fade,shallow-queue,deep-queue"
)
TCPS = "tcp-cubic,tcp-bbr,tcp-reno"
NEAR = 0.1


def board(args, mode, scenario, racer, out):
    """Shares by seed, and the warnings that the run has printed."""
    folder = out / f"{scenario}-{racer}-{mode}"
    command = [args.skyhaul, "scoreboard", f"--{mode}", "--scenarios", scenario, "--with", racer]
    command += ["--runs", str(args.runs), "--out", str(folder), "--json"]
    for name in ("size", "time_limit"):
        value = getattr(args, name)
        command += [f"--{name.replace('_', '-')}", value] if value else []
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    results = folder / "results.jsonl"
    if not results.exists():
        sys.exit(f"kernel-tcp: {' '.join(command)}: {ran.stderr.strip()}")
    runs = [json.loads(line) for line in results.read_text().splitlines()[1:]]
    shares = {run["seed"]: run["metrics"]["share"] for run in runs if not run.get("error")}
    return shares, len(runs) - len(shares), ran.stderr.count("did not keep up")


def pair(args, scenario, racer, out):
    """Line of the table, and how many runs failed."""
    ours, failed_ours, _ = board(args, "simulated", scenario, racer, out)
    kernel, failed_kernel, late = board(args, "real", scenario, racer, out)
    seeds = sorted(ours.keys() & kernel.keys())
    ratios = [ours[seed] / kernel[seed] for seed in seeds if kernel[seed] > 0]
    if not ratios:
        return f"| `{scenario}` | {racer} | - | - | - | - | 0 | {late} | |", failed_ours + failed_kernel
    middle = statistics.median(ratios)
    cells = [
        f"`{scenario}`",
        racer,
        f"{statistics.median(kernel[seed] for seed in seeds):.3f}",
        f"{statistics.median(ours[seed] for seed in seeds):.3f}",
        f"{middle:.2f}",
        f"{min(ratios):.2f} to {max(ratios):.2f}",
        str(len(ratios)),
        str(late),
        "far" if abs(middle - 1) > NEAR else "",
    ]
    return f"| {' | '.join(cells)} |", failed_ours + failed_kernel


def main():
    parser = argparse.ArgumentParser(description="The kernel's TCP beside ours; see the head of this file.")
    parser.add_argument("--scenarios", default=SINGLE)
    parser.add_argument("--with", dest="racers", default=TCPS)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--size")
    parser.add_argument("--time-limit")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--skyhaul", default="target/release/skyhaul")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    out = args.out or Path(tempfile.mkdtemp(prefix="kernel-tcp-"))
    pairs = [(scenario, racer) for scenario in args.scenarios.split(",") for racer in args.racers.split(",")]
    print("| scenario | | kernel | ours | ours / kernel | from, to | seeds | late runs | |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    failed = 0
    with ThreadPoolExecutor(args.jobs) as pool:
        for line, failures in pool.map(lambda at: pair(args, *at, out), pairs):
            print(line, flush=True)
            failed += failures
    print(f"runs are kept in {out}", file=sys.stderr)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
