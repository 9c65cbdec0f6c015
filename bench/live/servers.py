"""`transect live` and Watchman, for the scripts beside this module: start, query over the socket, measure, stop."""

import json
import os
import signal
import socket
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "docs/examples"))
import service_client  # noqa: E402

#: Of each entry, what is compared. Not nlink and allocated, of which no notification reports every change.
FIELDS = ["mode", "uid", "gid", "mtime", "ctime", "inode", "size"]
WANTED = sum(bit for name, bit, _ in service_client.ATTRIBUTES if name in FIELDS)


def files(directory, count):
    """Creates small files, ten in each directory, a hundred directories in each of theirs."""
    for number in range(count):
        above = f"{directory}/{number // 1000}/{number // 10 % 100}"
        if number % 10 == 0:
            os.makedirs(above)
        with open(f"{above}/file-{number}", "w") as file:
            file.write(above)


def cpu(process):
    with open(f"/proc/{process}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def status(path, field):
    with open(f"{path}/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


class Server:
    """A process that follows `root`. `changes` returns when it has every change that was made before."""

    def __init__(self, area, root, line, address, environment=None):
        self.root, self.address = os.path.realpath(root), address
        os.makedirs(area, mode=0o700)
        with open(f"{area}/log", "w") as log:
            self.process = subprocess.Popen(line, stdout=log, stderr=log, env={**os.environ, **(environment or {})})
        while not os.path.exists(address):
            if self.process.poll() is not None:
                sys.exit(f"{line[0]} has ended; see {area}/log")
            time.sleep(0.001)
        self.connect()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        self.process.wait()

    def cpu(self):
        return cpu(self.process.pid)

    def resident(self):
        return status(f"/proc/{self.process.pid}", "VmRSS") * 1024

    def wakeups(self):
        directory = f"/proc/{self.process.pid}/task"
        return sum(status(f"{directory}/{task}", "voluntary_ctxt_switches") for task in os.listdir(directory))


class Transect(Server):
    def __init__(self, name, area, root, program, options=()):
        # Without this capability, each directory is watched with inotify.
        unprivileged = ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin"] if name == "inotify" else []
        super().__init__(area, root, [*unprivileged, program, "live", "--store-every", "0", *options, root], f"{area}/transect/cache.sock",
                         {"XDG_RUNTIME_DIR": area, "XDG_STATE_HOME": area})

    def connect(self):
        while True:
            try:
                self.client = service_client.Service(self.address)
                break
            except ConnectionRefusedError:
                time.sleep(0.001)
        # Until the tree was read, the service does not answer.
        while (reply := self.ask(11, self.path() + b"\0" * 8 + b"\xff" * 8 + b"\0")) is None:
            time.sleep(0.005)
        self.cursor = reply[:16]

    def path(self):
        return service_client.string(os.fsencode(self.root))

    def ask(self, kind, payload):
        """Returns all parts of an answer, or None if the tree is not answered."""
        parts, answer = [], self.client.request(kind, payload).read()
        while answer[0] == 1:
            parts.append(answer[1:])
            length = int.from_bytes(self.client.stream.read(5)[:4], "little")
            answer = self.client.stream.read(length - 1)
        return None if answer[0] == 2 else b"".join([*parts, answer[1:]])

    def changes(self):
        self.answer = self.ask(11, self.path() + self.cursor + b"\0")
        self.arrived, self.cursor = time.monotonic(), self.answer[:16]
        return bool(self.answer[17])

    def is_lost(self):
        """Returns whether more changed than the service keeps, so that the last answer has no changes."""
        return bool(self.answer[16])

    def changed(self):
        """Yields kind, type, path and path before of each change of the last answer."""
        at = 43
        while at < len(self.answer):
            kind, of = self.answer[at:at + 2]
            at, paths = at + 2, []
            for _ in range(2):
                length = int.from_bytes(self.answer[at:at + 4], "little")
                paths.append(os.fsdecode(self.answer[at + 4:at + 4 + length]))
                at += 4 + length
            yield ["removed", "renamed", "added", "modified"][kind], service_client.TYPES[of], *paths

    def entries(self):
        """Returns the attributes of each path below the root."""
        # After lost notifications, names are answered at once, and attributes once all were compared.
        while (answer := self.ask(10, WANTED.to_bytes(2, "little") + self.path() + b"\0")) is None:
            time.sleep(0.01)
        return self.parse(answer[16:])

    def parse(self, answer):
        kinds = "<BH" + "".join(kind for name, _, kind in service_client.ATTRIBUTES if name in FIELDS)
        record, at, above, found = service_client.struct.Struct(kinds), 0, [], {}
        while at < len(answer):
            depth, flags, length = int.from_bytes(answer[at:at + 2], "little"), answer[at + 2], int.from_bytes(answer[at + 3:at + 5], "little")
            name, at = os.fsdecode(answer[at + 5:at + 5 + length]), at + 5 + length
            of, known, *values = record.unpack_from(answer, at)
            at += record.size + (4 if flags & 4 else 0)
            del above[max(0, depth - 1):]
            if depth:
                above.append(name)
                found["/".join(above)] = tuple(values) if known & WANTED == WANTED else None
        return found

    def find(self, word):
        """Returns whether a name has this word in it."""
        return word.encode() in self.ask(10, b"\0\0" + self.path() + b"\0" + service_client.string(word.encode()))

    def one(self, path):
        (record,) = self.client.attributes([os.fsencode(f"{self.root}/{path}")], WANTED)
        return record["size"]


class Watchman(Server):
    def __init__(self, _, area, root, *__):
        self.area = area
        names = [f"--{name}={area}/{name}" for name in ("sockname", "statefile", "logfile", "pidfile")]
        super().__init__(area, root, ["watchman", "--foreground", *names], f"{area}/sockname")

    def connect(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(self.address)
        self.stream = self.socket.makefile("rb")
        self.ask("watch", self.root)
        self.cursor = json.loads(self.ask("clock", self.root, {"sync_timeout": 600_000}))["clock"]

    def ask(self, *command):
        self.socket.sendall(json.dumps(command).encode() + b"\n")
        answer = self.stream.readline()
        if b'"error"' in answer[:1000]:
            sys.exit(f"{command}: {answer[:1000]}")
        return answer

    def query(self, **query):
        return self.ask("query", self.root, {"sync_timeout": 600_000, **query})

    def changes(self):
        self.answer = self.query(since=self.cursor, fields=["name", "exists"], empty_on_fresh_instance=True)
        self.arrived = time.monotonic()
        answer = json.loads(self.answer)
        self.cursor = answer["clock"]
        return answer["is_fresh_instance"]

    def entries(self):
        fields = [{"inode": "ino", "mtime": "mtime_ns", "ctime": "ctime_ns"}.get(name, name) for name in FIELDS]
        files = json.loads(self.query(fields=["name", *fields], expression=["exists"]))["files"]
        return {file["name"]: tuple(file[field] for field in fields) for file in files}

    def find(self, word):
        return word.encode() in self.query(fields=["name"], expression=["match", f"*{word}*"])

    def one(self, path):
        return json.loads(self.query(fields=["name", "size"], path=[{"path": path, "depth": 0}]))["files"]


SERVERS = {"file system": Transect, "inotify": Transect, "Watchman": Watchman}


def start(name, area, root, program, options=()):
    return SERVERS[name](name, area, root, program, options)


def describe(script, program, names):
    """Returns what was measured where: results without that cannot be compared."""
    with open("/proc/cpuinfo") as lines:
        processor = next((line.split(": ")[1].strip() for line in lines if line.startswith("model name")), "?")
    programs = [program, *(["watchman"] if "Watchman" in names else [])]
    versions = [subprocess.run([it, "--version"], check=True, capture_output=True, text=True).stdout.strip() for it in programs]
    words = [f'"{word}"' if " " in word else word for word in sys.argv[1:] if word not in (program, "--program")]
    return (f"`{' '.join([script, *words])}`, {time.strftime('%Y-%m-%d')}, {processor}, {os.cpu_count()} cores, Linux {os.uname().release}, "
            f"{', Watchman '.join(versions)}, load {os.getloadavg()[0]:.1f} at the beginning.")
