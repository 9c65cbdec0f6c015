"""The programs in docs/examples print what os.walk and os.lstat find. They print the same as those in Rust and C."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import expected

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(example, *arguments):
    """Returns what an example prints."""
    command = [sys.executable, EXAMPLES / example, *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


@pytest.fixture
def project(tree):
    """The tree with rules, files that they exclude, and a file with names in two directories."""
    root = Path(tree)
    (root / ".gitignore").write_text("*.gz\ndir.with.dots/\n")
    (root / ".git").mkdir()
    (root / ".git" / "config").touch()
    (root / "dir.with.dots" / "excluded").touch()
    return tree


def test_du_counts_each_file_once(project):
    seen, usage = set(), {}
    # In the order of names, as the table has them: a file counts at the first one.
    for path, status in sorted(expected(project).items(), key=lambda item: os.fsencode(item[0]).split(b"/")):
        if (status.st_dev, status.st_ino) not in seen:
            seen.add((status.st_dev, status.st_ino))
            names = path[len(project) + 1 :].split(os.sep)
            for directory in {project, os.path.join(project, names[0])} if names[0] else {project}:
                usage[directory] = usage.get(directory, 0) + status.st_blocks * 512
    directories = [path for path in usage if os.path.isdir(path) and not os.path.islink(path) and path != project]
    lines = [
        b"%15d %s\n" % (usage[path], os.fsencode(path)) for path in [*sorted(directories, key=os.fsencode), project]
    ]
    assert run("du.py", project) == b"".join(lines)


@pytest.mark.parametrize("ends", [(), (".txt", ".TXT")])
def test_find_applies_rules_and_globs(project, ends):
    lines = {
        b"%19d %11d %s" % (status.st_mtime_ns, status.st_size, os.fsencode(path))
        for path, status in expected(project).items()
        if stat.S_ISREG(status.st_mode)
        and path.endswith(ends or "")
        and not {".git", "dir.with.dots", "large.tar.gz"} & set(path.split(os.sep))
    }
    printed = run("find.py", project, *("*" + end for end in ends))
    assert sorted(printed.splitlines()) == sorted([*b"\n".join(lines).splitlines(), b"%d files" % len(lines)])
    assert len(lines) > 3


def test_index_prints_what_changed(tmp_path):
    tree, index = tmp_path / "tree", tmp_path / "index.parquet"
    for name in "kept", "src/a.c", "old/deep/gone":
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_bytes(b"1")

    def call():
        return run("index.py", index, tree).replace(os.fsencode(tree), b"")

    assert call() == b"7 entries\n"
    assert call() == b""
    (tree / "src/a.c").write_bytes(b"123")
    (tree / os.fsdecode(b"not-\xff-utf8\n")).mkdir()
    (tree / "old/deep/gone").unlink()
    assert call() == b"added /not-\xff-utf8\n\nremoved /old/deep/gone\nmodified /src/a.c\n"
    assert call() == b""


def test_resolve_looks_beside_the_file_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "main.c": '#include "own.h"\n # include <both.h>\n#include <missing.h>\n#include broken\n',
        "own.h": '#include "both.h"\n',
        "first/both.h": "",
        "second/both.h": "",
    }.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    assert run("resolve.py", "main.c", "first", "second") == b"own.h\nfirst/both.h\nmissing.h: not found\n"
