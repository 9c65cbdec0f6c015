#!/usr/bin/env python3
"""Compares what programs cost before they do anything: each walks ten files, in interleaved rounds.

    bench/start.py --out bench/runs/DATE-NAME before='OLD scan {}' after='NEW scan {}' du='du -s {}'

With --tree DIR they walk that tree instead: two builds of one program, on real work.

The first is the base of all ratios. How the page cache holds a program moves its page faults by ten,
from copy to copy of the same bytes: so the programs are copied anew for every block of rounds.
"""

import argparse
import hashlib
import json
import os
import platform
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}


def sample(command, null):
    """Starts one program and waits for it: wall and CPU nanoseconds, page faults."""
    silent = [(os.POSIX_SPAWN_DUP2, null, stream) for stream in (0, 1, 2)]
    start = time.perf_counter_ns()
    process = os.posix_spawn(command[0], command, ENVIRONMENT, file_actions=silent)
    _, status, usage = os.wait4(process, 0)
    wall = time.perf_counter_ns() - start
    if status != 0:
        sys.exit(f"start.py: {command} ended with status {status}")
    cpu = round((usage.ru_utime + usage.ru_stime) * 1e9)
    return {"wall_ns": wall, "cpu_ns": cpu, "faults": usage.ru_minflt}


def block(number, programs, args, folder, tree, raw):
    """Copies all programs in a new order, then runs each once per round, in a new order each time."""
    null = os.open(os.devnull, os.O_RDWR)
    names, commands = random.sample(list(programs), len(programs)), {}
    for name in names:
        program, *words = programs[name]
        copy = shutil.copy(program, folder / f"{name}-{number}")
        commands[name] = [str(copy), *(word.replace("{}", str(tree)) for word in words)]
    os.sync()
    for command in commands.values():
        sample(command, null)
    for turn in range(args.rounds):
        random.shuffle(names)
        for name in names:
            line = {"block": number, "round": turn, "program": name, **sample(commands[name], null)}
            raw.write(json.dumps(line) + "\n")
            yield line
    for command in commands.values():
        os.unlink(command[0])
    os.close(null)


def table(samples, programs):
    """Medians, and the medians of the ratios within the rounds."""
    base = samples[next(iter(programs))]
    rows = ["| program | wall ms | CPU ms | page faults | × base, wall | × base, CPU |",
            "|---|---:|---:|---:|---:|---:|"]
    for name, own in samples.items():
        wall, cpu, faults = (median(line[key] for line in own)
                             for key in ("wall_ns", "cpu_ns", "faults"))
        by_wall, by_cpu = (median(line[key] / other[key] for line, other in zip(own, base))
                           for key in ("wall_ns", "cpu_ns"))
        rows.append(f"| {name} | {wall / 1e6:.2f} | {cpu / 1e6:.2f} | {faults:.0f} "
                    f"| {by_wall:.3f} | {by_cpu:.3f} |")
    return "\n".join(rows) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="+", metavar="NAME=COMMAND")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--blocks", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=60, help="in each block")
    parser.add_argument("--tree", type=Path, metavar="DIR", help="default: ten files")
    args = parser.parse_args()
    programs = {}
    for name, command in (program.split("=", 1) for program in args.programs):
        program, *words = command.split()
        programs[name] = [shutil.which(program) or sys.exit(f"start.py: no {program}"), *words]
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo")
                if line.startswith("model name")), None)
    args.out.mkdir(parents=True)
    session = {
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "cpu": cpu,
        "cores": os.cpu_count(), "kernel": platform.release(), "load_at_start": os.getloadavg()[0],
        "blocks": args.blocks, "rounds": args.rounds, "tree": args.tree and args.tree.name,
        "commands": {name: " ".join([Path(words[0]).name, *words[1:]])
                     for name, words in programs.items()},
        "sha256": {name: hashlib.sha256(Path(words[0]).read_bytes()).hexdigest()
                   for name, words in programs.items()},
    }
    (args.out / "session.json").write_text(json.dumps(session, indent=1) + "\n")
    samples = {name: [] for name in programs}
    with tempfile.TemporaryDirectory() as folder, open(args.out / "raw.jsonl", "w") as raw:
        tree = args.tree or Path(folder) / "tree"
        if not args.tree:
            tree.mkdir()
            for number in range(10):
                (tree / str(number)).write_text("text\n")
        for number in range(args.blocks):
            for line in block(number, programs, args, Path(folder), tree, raw):
                samples[line["program"]].append(line)
    head = (f"# {session['date'][:10]}: start, {cpu}, kernel {session['kernel']}\n\n"
            f"{session['cores']} cores, load {session['load_at_start']:.1f} at the start; {args.tree.name if args.tree else 'ten files'}; "
            f"{args.blocks} × {args.rounds} rounds, interleaved. Medians.\n\n")
    (args.out / "summary.md").write_text(head + table(samples, programs))
    print(table(samples, programs), end="")


if __name__ == "__main__":
    main()
