#!/usr/bin/env python3
"""Compares passes over files with a floor and with the programs that people use for them, in
interleaved rounds.

    bench/transform.py --transect target/dist/transect --out bench/runs/DATE-transform

One text file of 256 MB (--bytes), and a tree of 10,000 small files whose lines already end as they
should. Everything is in memory before it is read; results go into the page cache. Processor time
counts (user and system): wall time depends on what the device is doing at the moment.
"""

import argparse
import json
import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
LINE = b"int main(void) { return 0; } /* a line of text, as there are many */\n"

# What is compared with what, and how much of it a program may take at most.
COMPARED = [
    ("case", "floor", 1.15),
    ("case", "tr", 0.35),
    ("copy-blake3", "tee-b3sum", 0.6),
    ("copy", "cp", 1.1),
    ("eol", "read", 1.3),
]


def commands(transect, folder):
    """All commands by name; shells only where pipes are compared."""
    file, out, tree = folder / "in", folder / "out", folder / "tree"
    return {
        "floor": [folder / "pass", file, out],
        "case": [transect, "transform", "case=upper", file, "-o", out],
        "tr": ["sh", "-c", f"exec tr a-z A-Z <'{file}' >'{out}'"],
        "copy": [transect, "transform", "copy", file, "-o", out],
        "cp": ["cp", file, out],
        "copy-blake3": [transect, "transform", "copy", "blake3", file, "-o", out],
        "tee-b3sum": ["sh", "-c", f"tee '{out}' <'{file}' | b3sum"],
        "read": ["sh", "-c", f"find '{tree}' -type f | '{folder}/pass'"],
        "eol": [transect, "transform", "eol=lf", tree, "-i", "-j1"],
        "eol-threads": [transect, "transform", "eol=lf", tree, "-i"],
    }


def make(folder, size):
    """The file, the tree, and the floor."""
    with open(folder / "in", "wb") as file:
        rng, block = random.Random(1), bytearray(1 << 20)
        alphabet = bytes(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ .,;:-\n" * 5)
        for _ in range(size >> 20):
            block = bytes(rng.choices(alphabet, k=4096)) * 256
            file.write(block)
    rng = random.Random(2)
    for number in range(10_000):
        path = folder / "tree" / f"{number // 100:02}" / f"{number % 100:02}.c"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(LINE * (int(rng.expovariate(1 / 200)) + 1))
    subprocess.run(["cc", "-O2", "-o", folder / "pass", HERE / "pass.c"], check=True)


def sample(command, out):
    """Runs a command: wall and processor nanoseconds, with those of all it starts."""
    out.unlink(missing_ok=True)
    null = os.open(os.devnull, os.O_RDWR)
    silent = [(os.POSIX_SPAWN_DUP2, null, stream) for stream in (0, 1, 2)]
    command = [str(word) for word in command]
    start = time.perf_counter_ns()
    process = os.posix_spawnp(command[0], command, os.environ, file_actions=silent)
    _, status, usage = os.wait4(process, 0)
    wall = time.perf_counter_ns() - start
    os.close(null)
    if status != 0:
        sys.exit(f"transform.py: {command} ended with status {status}")
    cpu = round((usage.ru_utime + usage.ru_stime) * 1e9)
    return {"wall_ns": wall, "cpu_ns": cpu}


def check(cells, folder):
    """Equal work, or no time: the same bytes as the rival, and a tree that stays as it is."""
    def result(name):
        sample(cells[name], folder / "out")
        return subprocess.run(["cksum", folder / "out"], check=True, capture_output=True).stdout
    for one, other in (("case", "tr"), ("copy", "cp"), ("copy-blake3", "tee-b3sum"), ("floor", "cp")):
        if result(one) != result(other):
            sys.exit(f"transform.py: {one} and {other} made different files")


def summary(args, cells, raw, environment):
    """The tables."""
    cpu = {name: [line["cpu_ns"] for line in raw if line["cell"] == name] for name in cells}
    wall = {name: [line["wall_ns"] for line in raw if line["cell"] == name] for name in cells}
    lines = [
        f"# {environment['date']}: transforms, {environment['cpu']}, kernel {environment['kernel']}",
        "",
        f"{environment['cores']} cores, load {environment['load']:.1f} at the start; {environment['fs']}; "
        f"{args.bytes >> 20} MiB of text, 10,000 files; {args.rounds} rounds, interleaved; warm. Medians.",
        "",
        "| command | CPU ms | min | wall ms |",
        "|---|---:|---:|---:|",
    ]
    for name in cells:
        lines.append(f"| {name} | {median(cpu[name]) / 1e6:.1f} | {min(cpu[name]) / 1e6:.1f} "
                     f"| {median(wall[name]) / 1e6:.1f} |")
    lines += ["", "| ratio of CPU time, within rounds | median | lowest | highest | at most |",
              "|---|---:|---:|---:|---:|"]
    for one, other, most in COMPARED:
        ratios = sorted(a / b for a, b in zip(cpu[one], cpu[other]))
        lines.append(f"| {one} / {other} | {median(ratios):.2f} | {ratios[0]:.2f} | {ratios[-1]:.2f} | {most} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--transect", required=True, type=Path)
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--bytes", type=int, default=256 << 20)
    args = parser.parse_args()
    for program in ("cc", "tr", "cp", "tee", "find", "b3sum", "cksum"):
        if not shutil.which(program):
            sys.exit(f"transform.py: {program} is missing")
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if "model name" in line), "?")
    folder = Path(tempfile.mkdtemp(prefix="transect-bench-"))
    try:
        fs = subprocess.run(["stat", "-f", "-c", "%T", folder], capture_output=True, text=True).stdout.strip()
        environment = {"date": time.strftime("%Y-%m-%d"), "cpu": cpu, "kernel": platform.release(),
                       "cores": os.cpu_count(), "load": os.getloadavg()[0], "fs": fs}
        make(folder, args.bytes)
        cells = commands(args.transect.resolve(), folder)
        check(cells, folder)
        raw = []
        for turn in range(args.rounds + 1):
            for name in random.sample(list(cells), len(cells)):
                line = {"round": turn, "cell": name, **sample(cells[name], folder / "out")}
                if turn > 0:  # the first round warms what the check did not
                    raw.append(line)
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "raw.jsonl").write_text("".join(json.dumps(line) + "\n" for line in raw))
        text = summary(args, cells, raw, environment)
        (args.out / "summary.md").write_text(text)
        print(text)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
