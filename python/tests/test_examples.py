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
