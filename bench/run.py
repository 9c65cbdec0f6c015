#!/usr/bin/env python3
"""Measures transect and its peers against the floor; see bench/README.md.

One campaign is one folder, bench/runs/DATE-NAME: raw.jsonl (every sample, appended at once),
session.json (machine, versions, command lines, seed) and summary.md. The way of the data:
tools and corpora are made -> a plain walk counts each corpus -> every contender must count the
same -> rounds in which each contender runs once, in a new order -> medians and ratios to the floor.
"""

import argparse
import datetime
import hashlib
import json
import os
import platform
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent
CACHE = Path(os.environ.get("TRANSECT_BENCH") or
             Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "transect-bench")
CORES = len(os.sched_getaffinity(0))
ENVIRONMENT = {"PATH": f"{CACHE / 'peers/bin'}:{os.environ.get('PATH', '')}",
               "HOME": os.environ.get("HOME", "/"), "LC_ALL": "C", "TERM": "dumb"}


def note(text):
    print(text, file=sys.stderr, flush=True)


def stop(text):
    sys.exit(f"run.py: {text}")


# Equal work -----------------------------------------------------------------------------------

class Tally(NamedTuple):
    """What a plain walk counts; the measure of everybody's work."""
    directories: int = 0       # the root included
    files: int = 0             # all that is not a directory
    regular: int = 0
    bytes: int = 0             # every name of every file
    distinct_bytes: int = 0    # every file once
    directory_bytes: int = 0

    @property
    def entries(self):
        return self.directories + self.files


def walk(root):
    """Counts a tree with os.scandir and lstat: slow, simple, independent of floor and transect."""
    directories = files = regular = size = distinct = 0
    directory_size = os.lstat(f"{root}/").st_size
    seen, waiting = set(), [str(root)]
    while waiting:
        directories += 1
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                s = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(s.st_mode):
                    directory_size += s.st_size
                    waiting.append(entry.path)
                    continue
                files += 1
                regular += stat.S_ISREG(s.st_mode)
                size += s.st_size
                if s.st_nlink == 1 or (s.st_dev, s.st_ino) not in seen:
                    distinct += s.st_size
                if s.st_nlink > 1:
                    seen.add((s.st_dev, s.st_ino))
    return Tally(directories, files, regular, size, distinct, directory_size)


def first_number(output):
    return int(re.search(rb"\d+", output)[0])


def read_floor(output):
    counts = dict(zip(*[iter(output.split())] * 2))
    return [int(counts[key]) for key in (b"directories", b"files", b"bytes")]


def read_json(output):
    """Of `scan`, which counts links apart, and of `usage`, for which they are some of the others."""
    counts = json.loads(output)
    files = counts["files"] + counts.get("symlinks", 0) + counts["others"]
    return [counts["directories"], files, counts["apparent_size"]]


class Contender(NamedTuple):
    """A program, and how its counts are read (`reads`) and judged (`expects`); None: not checked."""
    row: str
    command: list              # {} stands for the corpus
    expects: object = None     # Tally -> what must be read
    reads: object = None       # output -> what it counted
    check: list = []           # arguments that make the counts readable, only while checking
    programs: list = []        # names it goes by; the first that is installed is taken


def floors(*more):
    """The floor at one thread per core, again (A/A), at one and at 32."""
    option = "".join(f" {word}" for word in more)
    rows = {f"floor -t{n}{option}": n for n in (CORES, 1, 32)}
    again = f"floor -t{CORES}{option} again (A/A)"
    expects = ((lambda t: [t.directories, t.files, 0]) if more else
               (lambda t: [t.directories, t.files, t.bytes]))
    return [Contender(row, ["floor", f"-t{n}", "-e", *more, "{}"], expects, read_floor)
            for row, n in [*rows.items(), (again, CORES)]]


def scanners():
    """Sizes of all files. Every peer is asked for lengths; what its sum includes differs."""
    once = lambda t: [t.directories, t.files, t.distinct_bytes]
    all_names = lambda t: t.bytes + t.directory_bytes
    return floors() + [
        Contender("transect scan", ["transect", "scan", "{}"], once, read_json, ["--json"]),
        Contender(f"transect scan -j{CORES}", ["transect", "scan", f"-j{CORES}", "{}"], once,
                  read_json, ["--json"]),
        Contender("transect usage", ["transect", "usage", "--depth", "0", "{}"], once, read_json,
                  ["--json"]),
        Contender(f"transect usage -j{CORES}", ["transect", "usage", "--depth", "0", f"-j{CORES}", "{}"],
                  once, read_json, ["--json"]),
        Contender("pdu", ["pdu", "--quantity", "apparent-size", "--max-depth", "1", "{}"], all_names,
                  lambda out: first_number(out.strip().splitlines()[-1]), ["--bytes-format", "plain"]),
        Contender("diskus", ["diskus", "-b", "{}"], lambda t: t.distinct_bytes, first_number),
        Contender("dust", ["dust", "-d0", "-P", "-s", "{}"], all_names,
                  lambda out: int(re.search(rb"(\d+)B", out)[1]), ["-o", "b"]),
        # gdu counts 4096 bytes for every directory.
        Contender("gdu", ["gdu", "-npsa", "{}"],
                  lambda t: t.distinct_bytes + 4096 * t.directories, first_number, ["--no-prefix"]),
        Contender("bfs -printf %s", ["bfs", "{}", "-printf", "%s\\n"], all_names,
                  lambda out: sum(map(int, out.split()))),
        Contender("du", ["du", "-sb", "{}"], lambda t: t.distinct_bytes + t.directory_bytes, first_number),
        Contender("ncdu", ["ncdu", "-0", "-o-", "{}"], all_names,
                  lambda out: sum(int(m[1]) for m in re.finditer(rb'"asize":(\d+)', out))),
    ]


def listers():
    """All paths, no attributes. NUL-separated, so that they can be counted whatever the names."""
    everything = lambda t: t.entries
    paths = lambda out: out.count(b"\0")
    return floors("-s", "none") + [
        Contender("transect list", ["transect", "list", "-0", "{}"], everything, paths),
        Contender(f"transect list -j{CORES}", ["transect", "list", "-0", f"-j{CORES}", "{}"],
                  everything, paths),
        Contender("fd", ["fd", "-u", "-0", "", "{}"], lambda t: t.entries - 1, paths,
                  programs=["fd", "fdfind"]),
        Contender("find", ["find", "{}", "-print0"], everything, paths),
        Contender("rg --files", ["rg", "--files", "-uu", "-0", "{}"], lambda t: t.regular, paths),
        Contender("bfs", ["bfs", "{}", "-print0"], everything, paths),
    ]


# Tools and corpora ----------------------------------------------------------------------------

def build_tools():
    """Compiles floor, corpus and sample into the cache, each only if its source is newer."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    tools = CACHE / "tools"
    tools.mkdir(parents=True, exist_ok=True)
    for name, libraries in (("floor", ["-pthread"]), ("corpus", ["-lm"]), ("sample", [])):
        source, program = HERE / f"{name}.c", tools / name
        if program.exists() and program.stat().st_mtime >= source.stat().st_mtime:
            continue
        if not compiler:
            stop("a C compiler is needed (cc, or name one in CC): apt-get install gcc libc6-dev")
        command = [compiler, "-O2", "-o", str(program), str(source), *libraries]
        if subprocess.run(command).returncode:
            stop(f"cannot compile {source.name}")
    return {name: str(tools / name) for name in ("floor", "corpus", "sample")}


def known_corpora(tools):
    """Returns name -> (files, directories below the root, bytes) of the generated corpora."""
    lines = subprocess.run([tools["corpus"]], capture_output=True, text=True, check=True).stdout
    return {name: tuple(map(int, rest)) for name, *rest in map(str.split, lines.splitlines())}


def label(name):
    """Returns what a corpus is called in the results: no home directory of anybody."""
    home = str(Path.home())
    return "~" + name[len(home):] if name.startswith(f"{home}/") else name


def corpus_root(name, known, tools):
    """Returns the directory of a corpus; a known one is made if it is not there."""
    if name not in known:
        if not Path(name).is_dir():
            stop(f"no corpus '{name}': a directory, or one of {', '.join(known)}")
        return str(Path(name).resolve())
    root = CACHE / "corpora" / name
    if not root.is_dir():
        note(f"making corpus {name} ({known[name][0]} files) …")
        root.parent.mkdir(parents=True, exist_ok=True)
        part = root.with_name(f".{name}.part")
        shutil.rmtree(part, ignore_errors=True)
        if subprocess.run([tools["corpus"], name, str(part)]).returncode:
            stop(f"cannot make corpus {name} in {root.parent}")
        part.rename(root)
    return str(root)


def count_corpus(name, root, known):
    """Counts a corpus; a generated one must be what its generator promises."""
    try:
        tally = walk(root)
    except OSError as error:
        stop(f"cannot count {name}: {error}")
    if name in known:
        files, below, size = known[name]
        if (tally.files, tally.directories) != (files, below + 1):
            stop(f"corpus {name} is damaged: remove {root}, it will be made anew")
        if tally.bytes != size:
            note(f"{name}: {tally.bytes} bytes instead of {size}: another mathematics library; "
                 "compare with runs of this machine only")
    return tally


# One sample -----------------------------------------------------------------------------------

def fill_in(contender, program, root, more=()):
    rest = [root if word == "{}" else word for word in contender.command[1:]]
    return [program, *more, *rest] if contender.command[0] != "transect" else \
        [program, rest[0], *more, *rest[1:]]


def check(contender, program, root, tally):
    """Runs a contender once and returns "equal", "not checked" or what is wrong."""
    done = subprocess.run(fill_in(contender, program, root, contender.check), env=ENVIRONMENT,
                          stdin=subprocess.DEVNULL, capture_output=True)
    if not contender.reads:
        return "not checked"
    expected = contender.expects(tally)
    try:
        counted = contender.reads(done.stdout)
    except (ValueError, KeyError, TypeError, IndexError):
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        return f"no counts to be read (exit {done.returncode}) {' '.join(last)}".strip()
    return "equal" if counted == expected else f"counted {counted}, expected {expected}"


def sample(tools, command):
    """Runs a command through `sample` and returns its cost."""
    read, write = os.pipe()
    child = subprocess.Popen([tools["sample"], str(write), *command], env=ENVIRONMENT, pass_fds=[write],
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as pipe:
        line = pipe.read()
    child.wait()
    wall, user, system, peak, status = map(int, line.split())
    return {"wall_ns": wall, "user_us": user, "system_us": system, "peak_rss_kib": peak, "exit": status}


def drop_caches(tools, program):
    """Empties the kernel's caches, then brings back what starts the program: it is not the corpus."""
    os.sync()
    Path("/proc/sys/vm/drop_caches").write_text("3")
    time.sleep(0.05)
    Path(tools["sample"]).read_bytes()
    Path(program).read_bytes()
    sample(tools, [program, "--version"])


# A campaign -----------------------------------------------------------------------------------

class Session:
    """The folder of a campaign: every sample is on disk before the next one starts."""

    def __init__(self, folder, about, programs):
        self.folder, self.about, self.programs, self.parts = folder, about, programs, []
        folder.mkdir(parents=True)
        self.raw = open(folder / "raw.jsonl", "a", buffering=1)
        self.save()

    def add(self, line):
        self.raw.write(json.dumps(line) + "\n")

    def part(self, text):
        """Appends a part of the summary and shows it."""
        self.parts.append(text)
        print(f"\n{text}", flush=True)
        self.save()

    def save(self):
        (self.folder / "session.json").write_text(json.dumps(self.about, indent=1) + "\n")
        (self.folder / "summary.md").write_text("\n".join([head(self.about), *self.parts]))


def run_cell(session, tools, kind, corpus, contenders, rounds, cold, shuffle):
    """Checks, then measures the contenders on one corpus in one state of the cache."""
    name, root, tally = corpus
    state = session.about["cold_means"] if cold else "warm"
    title = f"{kind}: {name}, {state}"
    programs = session.programs
    verdicts = {}
    for c in contenders:
        if c.row not in programs:
            continue
        note(f"{title}: checking {c.row}")
        verdicts[c.row] = check(c, programs[c.row], root, tally)
    ranked = [c for c in contenders if verdicts.get(c.row) in ("equal", "not checked")]
    session.add({"cell": title, "work": verdicts, "tally": tally._asdict()})
    samples = {c.row: [] for c in ranked}
    try:
        for number in range(1, rounds + 1):
            if rounds < 50 or number % 50 == 0:
                note(f"{title}: round {number} of {rounds}")
            for position, c in enumerate(shuffle.sample(ranked, len(ranked))):
                program = programs[c.row]
                if cold:
                    drop_caches(tools, program)
                cost = sample(tools, fill_in(c, program, root))
                samples[c.row].append(cost)
                session.add({"cell": title, "kind": kind, "corpus": name, "state": state, "row": c.row,
                             "round": number, "position": position, **cost, "load": os.getloadavg()[0]})
    finally:
        session.part(table(title, tally, ranked, samples, verdicts))


def table(title, tally, ranked, samples, verdicts):
    """A cell as Markdown: floors first, then the fastest first; ratios are medians per round."""
    rounds = min(map(len, samples.values()), default=0)  # whole rounds only
    lines = [f"## {title}", "",
             f"{tally.files} files, {tally.directories} directories; {rounds} rounds, interleaved", ""]
    if not rounds:
        return "\n".join(lines + ["No complete round.", ""])
    wall = {row: [s["wall_ns"] / 1e6 for s in some[:rounds]] for row, some in samples.items()}
    cpu = {row: [(s["user_us"] + s["system_us"]) / 1e3 for s in some[:rounds]]
           for row, some in samples.items()}
    base = ranked[0].row if ranked[0].row.startswith("floor") else None
    rivals = [c.row for c in ranked if not c.row.startswith("floor")]
    best = min(rivals, key=lambda row: median(wall[row]), default=None)
    rows = [c.row for c in ranked if c.row not in rivals]
    rows += sorted(rivals, key=lambda row: median(wall[row]))
    lines += ["| program | wall ms (min–max) | user ms | sys ms | CPU ms | peak RSS MiB "
              "| × floor, wall | × floor, CPU | work |", "|---|---:|---:|---:|---:|---:|---:|---:|---|"]
    for row in rows:
        some = samples[row][:rounds]
        middle = lambda key: median(s[key] for s in some) / 1e3
        ratio = lambda of: (f"{median(x / max(y, 1e-9) for x, y in zip(of[row], of[base])):.2f}"
                            if base else "–")
        failed = sorted({s["exit"] for s in some} - {0})
        lines.append(
            f"| {f'**{row}**' if row == best else row}{f' (exit {failed})' if failed else ''} "
            f"| {median(wall[row]):.1f} ({min(wall[row]):.1f}–{max(wall[row]):.1f}) "
            f"| {middle('user_us'):.1f} | {middle('system_us'):.1f} | {median(cpu[row]):.1f} "
            f"| {max(s['peak_rss_kib'] for s in some) / 1024:.1f} | {ratio(wall)} | {ratio(cpu)} "
            f"| {verdicts[row]} |")
    again = next((row for row in rows if "A/A" in row), None)
    off = abs(median(x / y for x, y in zip(wall[again], wall[base])) - 1) if again else 0
    if off > 0.05:
        lines += ["", f"The floor differs from itself by {off:.0%}: smaller differences mean nothing here."]
    lines += [f"\nNot ranked: {row}: {why}" for row, why in verdicts.items() if row not in samples]
    return "\n".join(lines + [""])


def count_calls(session, corpus, contenders):
    """System calls per entry, as strace counts them; says nothing about time."""
    name, root, tally = corpus
    lines = [f"## system calls: {name}", "", f"{tally.entries} entries; calls per entry", "",
             "| program | calls | per entry | of which |", "|---|---:|---:|---|"]
    for c in contenders:
        if c.row not in session.programs:
            continue
        note(f"system calls: {name}: {c.row}")
        with tempfile.NamedTemporaryFile("r") as out:
            command = fill_in(c, session.programs[c.row], root)
            subprocess.run(["strace", "-f", "-c", "-o", out.name, "--", *command], env=ENVIRONMENT,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            found = re.findall(r"^ *[\d.]+ +[\d.]+ +\d+ +(\d+) +(?:\d+ +)?(\w+)$", out.read(), re.M)
        calls = {call: int(count) for count, call in found if call != "total"}
        total = sum(calls.values())
        if not total:
            lines.append(f"| {c.row} | – | – | strace counted nothing (is ptrace allowed?) |")
            continue
        session.add({"cell": f"system calls: {name}", "row": c.row, "calls": calls})
        most = sorted(calls.items(), key=lambda call: -call[1])[:6]
        shown = ", ".join(f"{call} {n / tally.entries:.2f}" for call, n in most if n * 200 > tally.entries)
        lines.append(f"| {c.row} | {total} | {total / tally.entries:.2f} | {shown} |")
    session.part("\n".join(lines + [""]))


# The machine ----------------------------------------------------------------------------------

def first_line(command, cwd=None):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, cwd=cwd,
                              env=ENVIRONMENT, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return next((" ".join(line.split()) for line in done.stdout.splitlines() if line.strip()), None)


def field(file, key):
    try:
        found = re.search(rf"^{key}\s*:\s*(.*)$", Path(file).read_text(), re.M)
    except OSError:
        return ""
    return found[1] if found else ""


def file_system(path):
    """Returns type and options of the file system that holds a path."""
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    above = [m for m in mounts if f"{path}/".startswith(m[1].rstrip("/") + "/")]
    return f"{above[-1][2]} ({above[-1][3]})" if above else "unknown"


def describe(args, corpora, programs, contenders, seed):
    """Everything that a reader needs to judge or repeat the numbers; no paths of this machine."""
    virtual = " hypervisor" in field("/proc/cpuinfo", "flags")
    governor = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    rows = {c.row: c for c in contenders if c.row in programs}
    return {
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "cpu": field("/proc/cpuinfo", "model name") or platform.machine(), "cores": CORES,
        "governor": governor.read_text().strip() if governor.exists() else None,
        "memory": field("/proc/meminfo", "MemTotal"), "kernel": platform.release(),
        "virtual_machine": virtual, "cold_means": "guest cold" if virtual else "cold",
        "load_at_start": os.getloadavg()[0], "nice": os.nice(0), "user": "root" if not os.geteuid() else "user",
        "commit": first_line(["git", "rev-parse", "--short=12", "HEAD"], REPOSITORY),
        "uncommitted_changes": first_line(["git", "status", "--porcelain"], REPOSITORY) is not None,
        "transect_sha256": hashlib.sha256(args.transect.read_bytes()).hexdigest(), "seed": seed, "rounds": args.rounds,
        "corpora": {name: {"file_system": file_system(root), **tally._asdict()}
                    for name, root, tally in corpora},
        "versions": {row: first_line([programs[row], "--version"]) for row in rows
                     if not row.startswith("floor")},
        "commands": {row: " ".join(c.command) for row, c in rows.items()},
        "not_installed": sorted({c.row for c in contenders} - set(rows)),
        "finished": False,
    }


def head(about):
    """The top of the summary."""
    dirty = " with uncommitted changes" if about["uncommitted_changes"] else ""
    kind = ", virtual machine" if about["virtual_machine"] else ""
    lines = [f"# {about['date'][:10]}: {about['cores']} cores, kernel {about['kernel']}", "",
             f"{about['cpu']}, {about['cores']} cores{kind}; {about['memory']} of memory; commit "
             f"{about['commit']}{dirty}; load {about['load_at_start']:.1f} at the start; seed {about['seed']}. "
             "Versions and command lines: `session.json`; all samples: `raw.jsonl`.", ""]
    if about["load_at_start"] > 0.5:
        lines += ["The machine was not idle: trust ratios and CPU before milliseconds.", ""]
    if about["not_installed"]:
        lines += [f"Not installed: {', '.join(about['not_installed'])}.", ""]
    if not about["finished"]:
        lines += ["Not finished.", ""]
    return "\n".join(lines)


def find_programs(contenders, tools, transect):
    """Returns row -> program for all that is installed."""
    own = {"floor": tools["floor"], "transect": str(transect)}
    found = {}
    for c in contenders:
        names = c.programs or [c.command[0]]
        programs = [own.get(name) or shutil.which(name, path=ENVIRONMENT["PATH"]) for name in names]
        if any(programs):
            found[c.row] = next(filter(None, programs))
    return found


# The command line -----------------------------------------------------------------------------

def parse_arguments():
    parser = argparse.ArgumentParser(description="Measures transect and its peers against the floor.")
    add = parser.add_argument
    parts = parser.add_argument_group("what to measure (default: --scan)").add_argument
    parts("--scan", action="store_true", help="count entries and sizes, warm")
    parts("--list", action="store_true", help="list all paths, warm")
    parts("--tiny", action="store_true", help="ten files, many rounds: the cost of a process")
    parts("--memory", action="store_true", help="peak memory of transect scan on `users`")
    parts("--syscalls", action="store_true", help="system calls per entry (needs strace)")
    parts("--all", action="store_true", help="all of these")
    add("--cold", action="store_true", help="scan and list with dropped caches, too (needs root)")
    add("--corpus", action="append", metavar="NAME|PATH", help="default: data, drive, /usr")
    add("--rounds", type=int, metavar="N", help="rounds of a warm cell (default 9); cold: half of it")
    add("--quick", action="store_true", help="3 rounds on flat-1000 and music: does everything work?")
    add("--transect", type=Path, default=REPOSITORY / "target/dist/transect", metavar="PATH",
        help="the binary under test (default: target/dist/transect)")
    add("--seed", type=int, help="of the order within rounds (default: the time)")
    add("--name", help="of the folder, after the date (default: cores and file system)")
    args = parser.parse_args()
    args.rounds = args.rounds or (3 if args.quick else 9)
    args.corpus = args.corpus or (["flat-1000", "music"] if args.quick else ["data", "drive", "/usr"])
    if args.all:
        args.scan = args.list = args.tiny = args.memory = args.syscalls = True
    if not (args.list or args.tiny or args.memory or args.syscalls):
        args.scan = True
    if args.rounds < 1:
        stop("--rounds must be at least 1")
    if args.cold and os.geteuid():
        stop("--cold drops the kernel's caches: run it as root, or leave it out")
    if args.syscalls and not shutil.which("strace"):
        stop("--syscalls needs strace: apt-get install strace")
    if not os.access(args.transect, os.X_OK) or args.transect.is_dir():
        stop(f"no program {args.transect}: run `make build`, or name one with --transect")
    return args


def new_folder(name):
    base = HERE / "runs" / f"{datetime.date.today()}-{name}"
    folder, number = base, 2
    while folder.exists():
        folder, number = Path(f"{base}-{number}"), number + 1
    return folder


def measure(args, session, tools, corpora, shuffle):
    """All cells that were asked for, the cheap ones first."""
    scan, listing = scanners(), listers()
    own = [c for c in scan + listing if c.command[0] in ("floor", "transect") and "A/A" not in c.row]
    run = lambda *cell: run_cell(session, tools, *cell, shuffle)
    wanted = {corpus[0]: corpus for corpus in corpora}
    if args.tiny:
        rows = [c for c in scan if c.row in ("floor -t1", "transect scan", "du")]
        run("process", wanted["tiny"], rows, args.rounds * 30, False)
    for corpus in [wanted[label(name)] for name in args.corpus]:
        if args.syscalls:
            count_calls(session, corpus, own)
        for kind, rows in [("scan", scan)] * args.scan + [("list", listing)] * args.list:
            run(kind, corpus, rows, args.rounds, False)
            if args.cold:
                run(kind, corpus, rows, (args.rounds + 1) // 2, True)
    if args.memory:
        names = ("floor", "transect", "du", "pdu", "dust")
        rows = [c for c in scan if c.command[0] in names and "A/A" not in c.row]
        run("memory", wanted["users"], rows, min(args.rounds, 3), False)


def main():
    args = parse_arguments()
    tools = build_tools()
    known = known_corpora(tools)
    names = list(dict.fromkeys(args.corpus * (args.scan or args.list or args.syscalls)
                               + ["tiny"] * args.tiny + ["users"] * args.memory))
    corpora = []
    for name in names:
        root = corpus_root(name, known, tools)
        note(f"counting {name}")
        corpora.append((label(name), root, count_corpus(name, root, known)))
    contenders = (scanners() * (args.scan or args.tiny or args.memory or args.syscalls)
                  + listers() * (args.list or args.syscalls))
    programs = find_programs(contenders, tools, args.transect.resolve())
    seed = args.seed if args.seed is not None else int(time.time())
    about = describe(args, corpora, programs, contenders, seed)
    kind = file_system(corpora[0][1]).split()[0]
    session = Session(new_folder(args.name or f"{CORES}-cores-{kind}"), about, programs)
    try:
        measure(args, session, tools, corpora, random.Random(seed))
        about["finished"] = True
    finally:
        session.save()
        note(f"stored in {session.folder.relative_to(REPOSITORY)}")


if __name__ == "__main__":
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, signal.default_int_handler)
    try:
        main()
    except KeyboardInterrupt:
        note("interrupted: what was measured is kept")
        sys.exit(130)
