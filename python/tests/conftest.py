"""Trees for the tests, and what os.walk and os.lstat find in them."""

import itertools
import os
import signal
import socket
import subprocess
import time

import duckdb
import pytest

#: Seconds after which a test counts as hanging: so long that only a hang exceeds it, even on a slow and busy machine.
WATCHDOG = 600.0


@pytest.fixture(autouse=True)
def watchdog(request):
    """Fails a test that hangs, at the place where it waits."""

    def bark(*_):
        pytest.fail(f"{request.node.name} hangs: no end after {WATCHDOG:.0f} s")

    previous = signal.signal(signal.SIGALRM, bark)
    signal.setitimer(signal.ITIMER_REAL, WATCHDOG)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, previous)


def wait_until(what, holds, alive=lambda: True):
    """Waits until a condition holds; fails if what has to bring it about is not alive, or it never does."""
    until = time.monotonic() + WATCHDOG / 2
    while not holds():
        assert alive(), f"never {what}: it ended before"
        assert time.monotonic() < until, f"never {what}"
        time.sleep(0.001)


@pytest.fixture(autouse=True, scope="module")
def own_connection():
    """A result that a test did not read to its end would block the connection for all other ones."""
    duckdb.set_default_connection(duckdb.connect())


@pytest.fixture
def live(tmp_path_factory, monkeypatch):
    """Starts a service that follows a directory; `TRANSECT` is the program."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
    services = []

    def start(path):
        command = [os.environ["TRANSECT"], "live", "--store-every", "0", "--idle", "15m", path]
        service = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        services.append(service)
        assert any("following" in line for line in service.stderr)

    yield start
    for service in services:
        service.terminate()
        service.communicate()


@pytest.fixture
def tree(tmp_path):
    """A tree with everything that has names or attributes of its own, as a str."""
    root = os.fsencode(tmp_path / "tree")

    def path(*names):
        return os.path.join(root, *names)

    def write(length, *names):
        os.makedirs(os.path.dirname(path(*names)), exist_ok=True)
        with open(path(*names), "wb") as file:
            file.write(b"x" * length)

    write(0, b"empty")
    write(5, b"a.txt")
    write(70_000, b"sub", b"large.tar.gz")
    write(1, b"sub", b"deeper", b"x.TXT")
    write(7, b".hidden")
    write(8, b".hidden-dir", b"visible.txt")
    write(3, b"not-\xff-utf8.txt")
    write(4, b"dir-\xe9", b"inside")
    write(2, b"dir-\xe9", b"twice-\xc3\x28")
    write(6, "ünï cödé".encode(), "日本.txt".encode())
    write(1, b" space\nand newline\t")
    write(1, b"ends-with-dot.")
    os.mkdir(path(b"empty-dir"))
    os.mkdir(path(b"dir.with.dots"))
    os.link(path(b"a.txt"), path(b"sub", b"second-name"))
    os.symlink(b"a.txt", path(b"link"))
    os.symlink(b"sub", path(b"link-to-dir"))
    os.symlink(b".", path(b"loop"))
    os.symlink(b"nowhere", path(b"broken"))
    os.mkfifo(path(b"fifo"))
    # The path of a socket must be short.
    before = os.getcwd()
    os.chdir(root)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
    os.chdir(before)
    os.utime(path(b"empty"), ns=(1, -1_500_000_001))
    os.truncate(path(b"ends-with-dot."), 1 << 33)
    return os.fsdecode(root)


def expected(root):
    """Returns the attributes of everything in and below a root, by path, as os.lstat finds them."""
    found = {root: os.lstat(root)}
    for directory, directories, files in os.walk(root):
        for name in directories + files:
            path = os.path.join(directory, name)
            found[path] = os.lstat(path)
    return found


@pytest.fixture
def failing(tmp_path):
    """A tree that cannot be read completely if gitignore=True, whoever runs the tests."""
    (tmp_path / "failing" / "good").mkdir(parents=True)
    (tmp_path / "failing" / "file").touch()
    # The rules of the repository around it are a link to itself.
    (tmp_path / ".git" / "info").mkdir(parents=True)
    (tmp_path / ".git" / "info" / "exclude").symlink_to("exclude")
    return tmp_path / "failing"


@pytest.fixture(scope="session")
def large(tmp_path_factory):
    """A tree that takes long to read, compared with starting to read it: 5,050 entries below it."""
    root = tmp_path_factory.mktemp("large")
    for directory in range(50):
        make_names(root / str(directory), 100)
    return root


@pytest.fixture
def growing(tmp_path):
    """An iterator of lists of roots. Each list has one more, of 5,000 names, so that after some steps every
    machine needs longer to read them than a signal needs to arrive."""

    def lists():
        roots = []
        for number in itertools.count():
            roots.append(tmp_path / str(number))
            roots[-1].mkdir()
            for directory in range(50):
                make_names(roots[-1] / str(directory), 100)
            yield list(roots)

    return lists()


def make_names(directory, count):
    """Makes a directory with `count` names of one file, which is faster than making files."""
    directory.mkdir(parents=True)
    (directory / "0").write_bytes(b"12345")
    for number in range(1, count):
        os.link(directory / "0", directory / str(number))


class Interrupted(Exception):
    """What the handler of a signal raises."""


@pytest.fixture
def interrupted():
    """A function that calls another one while a signal arrives, whose handler raises. It returns whether
    that exception ended the call. With each call, the signal arrives at another time."""
    armed = False
    watchdog = signal.getsignal(signal.SIGALRM)

    def handler(*arguments):
        if armed:
            raise Interrupted
        watchdog(*arguments)

    def call(function):
        nonlocal armed
        try:
            armed = True
            signal.setitimer(signal.ITIMER_REAL, next(delays))
            function()
            armed = False
        except Interrupted:
            armed = False
            return True
        finally:
            signal.setitimer(signal.ITIMER_REAL, WATCHDOG)
        return False

    delays = itertools.cycle(0.001 * 2**power for power in range(8))
    signal.signal(signal.SIGALRM, handler)
    yield call
    signal.signal(signal.SIGALRM, watchdog)
