"""Wrong on purpose, for the lab's tests: walk.py METHOD ROOT RUNS [check]. The protocol is in ../README.md.

walk.py serve ROOT: the server of the method wrong-server."""

import json
import os
import signal
import sys
import time


BASIS, PRIME = 0xCBF29CE484222325, 0x100000001B3


def fnv(octets, start):
    for octet in octets:
        start = (start ^ octet) * PRIME % 2**64
    return start


class Walk:
    """Relative to descriptors, so that paths may be longer than the system takes."""

    def __init__(self, fault):
        self.fault = fault
        self.tally = {"files": 0, "directories": 0, "bytes": 0, "errors": 0}
        self.digest = 0
        self.above = []  # the directories from the root to here: followed links must not go round
        self.dropped = self.added = self.part = False

    def file(self, prefix, name, size):
        self.tally["files"] += 1
        self.tally["bytes"] += size
        self.digest += fnv(b"\0f" + size.to_bytes(8, "little"), fnv(name, prefix))

    def directory(self, descriptor, path, prefix):
        self.tally["directories"] += 1
        self.digest += fnv(b"\0d", path)
        status = os.fstat(descriptor)
        self.above.append((status.st_dev, status.st_ino))
        with os.scandir(descriptor) as entries:
            for entry in entries:
                self.entry(descriptor, prefix, entry)
        self.above.pop()

    def entry(self, parent, prefix, entry):
        name = os.fsencode(entry.name)
        follow = self.fault == "follows-links"
        if self.fault == "counts-links" and entry.is_symlink():
            self.file(prefix, name, entry.stat(follow_symlinks=False).st_size)
            return
        if self.fault == "part" and len(self.above) == 1 and entry.is_dir(follow_symlinks=False):
            self.part = not self.part
            if self.part:
                return
        if self.fault == "hides-dot-names" and name.startswith(b"."):
            return
        if self.fault == "skips-non-utf8" and not utf8(name):
            return
        if self.fault == "link-for-empty-file" and not self.added and entry.is_symlink():
            self.added = True
            self.file(prefix, name, 0)
            return
        try:
            if entry.is_dir(follow_symlinks=follow):
                status = entry.stat(follow_symlinks=follow)
                if follow and (status.st_dev, status.st_ino) in self.above:
                    return
                path = fnv(name, prefix)
                flags = os.O_RDONLY | os.O_DIRECTORY
                descriptor = os.open(name, flags, dir_fd=parent)
                try:
                    self.directory(descriptor, path, fnv(b"/", path))
                finally:
                    os.close(descriptor)
            elif entry.is_file(follow_symlinks=follow):
                size = entry.stat(follow_symlinks=follow).st_size
                if self.fault == "drops-empty-files" and size == 0:
                    return
                if self.fault == "link-for-empty-file" and not self.dropped and size == 0:
                    self.dropped = True
                    return
                self.file(prefix, name, size)
        except OSError:
            self.tally["errors"] += 1


def utf8(name):
    try:
        name.decode()
        return True
    except UnicodeDecodeError:
        return False


def walk(root, fault=None):
    walk = Walk(fault)
    start = time.monotonic_ns()
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    walk.directory(descriptor, BASIS, BASIS)
    os.close(descriptor)
    line = {**walk.tally, "elapsed_ns": time.monotonic_ns() - start}
    # A digest of what it counted, right or wrong.
    return {**line, "digest": f"{walk.digest % 2**64:016x}"} if sys.argv[-1] == "check" else line


def honest(root):
    return walk(root)


def faulty(fault):
    return lambda root: print(json.dumps(walk(root, fault)), flush=True)


def drops_last(root):
    tally = honest(root)
    tally["files"] = max(tally["files"] - 1, 0)
    print(json.dumps(tally), flush=True)


def long_walk(root):
    """Walks until that takes much more than the start of this process, on any machine, even if one start of a few
    takes several times as long as the others."""
    enough, tally = 20 * time.process_time(), honest(root)
    elapsed = tally["elapsed_ns"]
    while tally["files"] > 0 and time.process_time() < enough:
        elapsed += honest(root)["elapsed_ns"]
    return tally, elapsed


def early(root):
    tally, _ = long_walk(root)
    tally["elapsed_ns"] = 17_000
    print(json.dumps(tally), flush=True)


def slow_clock(root):
    tally, elapsed = long_walk(root)
    tally["elapsed_ns"] = elapsed // 1000 + 1
    print(json.dumps(tally), flush=True)


def stops_early(root):
    start = time.monotonic_ns()
    os.listdir(root)
    elapsed = time.monotonic_ns() - start
    tally, _ = long_walk(root)
    tally["elapsed_ns"] = elapsed
    print(json.dumps(tally), flush=True)


def beside(root, what):
    """A path beside the tree, so that it is removed together with the tree."""
    folder, name = os.path.split(os.path.abspath(root))
    return os.path.join(folder, f".{name}.{what}")


def remembered(root):
    """The first result, with a time that this process can have spent."""
    try:
        with open(beside(root, "memory"), encoding="ascii") as file:
            tally = json.load(file)
    except FileNotFoundError:
        tally = honest(root)
        with open(beside(root, "memory"), "w", encoding="ascii") as file:
            json.dump(tally, file)
    tally["elapsed_ns"] = min(tally["elapsed_ns"], time.process_time_ns())
    return tally


def remembers(root):
    print(json.dumps(remembered(root)), flush=True)


def background(root):
    tally = remembered(root)
    if os.fork() == 0:
        os.setsid()
        end = time.monotonic() + 60
        while time.monotonic() < end:
            honest(root)
        os._exit(0)
    print(json.dumps(tally), flush=True)


def server(root):
    import socket  # not above: it would make every start slower

    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(beside(root, "socket"))
            line = client.makefile().readline()
    except (FileNotFoundError, ConnectionRefusedError):
        line = json.dumps(honest(root)) + "\n"
    print(line, end="", flush=True)


def serve(root):
    import socket

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(beside(root, "socket"))
        listener.listen()
        print("ready", flush=True)
        while True:
            client, _ = listener.accept()
            with client:
                client.sendall(json.dumps(honest(root)).encode() + b"\n")


def no_cpu(root):
    tally, elapsed = long_walk(root)
    tally.update(elapsed_ns=elapsed, cpu_ns=1)
    print(json.dumps(tally), flush=True)


def garbage(_root):
    print("files: many", flush=True)


def hangs(_root):
    while True:
        signal.pause()


def dies(root):
    line = json.dumps(honest(root))
    print(line[: len(line) // 2], end="", flush=True)
    os.kill(os.getpid(), signal.SIGSEGV)


METHODS = {
    "honest": faulty(None),
    "wrong-follows-links": faulty("follows-links"),
    "wrong-hides-dot-names": faulty("hides-dot-names"),
    "wrong-link-for-empty-file": faulty("link-for-empty-file"),
    "wrong-skips-non-utf8": faulty("skips-non-utf8"),
    "wrong-drops-last": drops_last,
    "wrong-drops-empty-files": faulty("drops-empty-files"),
    "wrong-counts-links": faulty("counts-links"),
    "wrong-part": faulty("part"),
    "wrong-early": early,
    "wrong-stops-early": stops_early,
    "wrong-remembers": remembers,
    "wrong-background": background,
    "wrong-server": server,
    "wrong-no-cpu": no_cpu,
    "wrong-slow-clock": slow_clock,
    "wrong-garbage": garbage,
    "wrong-hangs": hangs,
    "wrong-dies": dies,
}


# Faults of times: these walk correctly when their work is checked.
OF_TIMES = {"early", "stops-early", "slow-clock", "remembers", "background", "server", "no-cpu"}


def main():
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    name, root, runs = sys.argv[1:4]
    if sys.argv[-1] == "check" and name.removeprefix("wrong-") in OF_TIMES:
        name = "honest"
    if name not in METHODS:
        print("walk.py: unknown method:", name, file=sys.stderr)
        return 2
    if os.path.islink(root) or not os.path.isdir(root):
        print("walk.py: not a directory:", ascii(root), file=sys.stderr)
        return 1
    for _ in range(int(runs)):
        METHODS[name](root)
    return 0


if __name__ == "__main__":
    sys.exit(main())
