"""The stubs and the documentation agree with the module."""

import inspect
import json
import subprocess
import sys
import typing
from pathlib import Path

import pytest
import transect

pytestmark = pytest.mark.once


def test_everything_is_documented():
    for name in transect.__all__:
        thing = getattr(transect, name)
        if name == "__version__":
            continue
        assert inspect.getdoc(thing), name
        assert thing.__module__.startswith("transect"), name
        if inspect.isclass(thing):
            for member, value in vars(thing).items():
                if not member.startswith("_"):
                    assert inspect.getdoc(value), f"{name}.{member}"


# pandas, pyarrow and tqdm have no types of their own; those of polars take long to read.
MYPY = """
[mypy]
ignore_missing_imports = True
strict = True
[mypy-pandas.*,polars.*,pyarrow.*]
follow_imports = skip
"""


def test_stubs_equal_the_module(tmp_path):
    (tmp_path / "mypy.ini").write_text(MYPY)
    # It takes an alias of several literals for a union.
    (tmp_path / "allowed").write_text("transect._filters._FileType\n")
    command = [sys.executable, "-m", "mypy.stubtest", "transect", "--mypy-config-file", "mypy.ini"]
    command += ["--allowlist", "allowed"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_none_is_the_default_of_every_filter(tree):
    everything = len(transect.scan(tree))
    for name, hint in typing.get_type_hints(transect.Filters).items():
        assert type(None) in typing.get_args(hint), name
        assert len(transect.scan(tree, **{name: None})) == everything, name


PROGRAM = """
import os
import pathlib
import transect

cache = transect.AttributeCache("checked", base="/")
attributes: transect.Attributes = cache.get(b"etc")
rows: transect.Rows = cache.get_many(["etc", pathlib.Path("usr")])
for entry in transect.entries(sort="size", limit=3):
    mtime: float | None = entry.mtime
for entry in transect.glob("*.py", "a", newer=3.5, owner="root", perm="-111"):
    is_directory: bool = entry.is_dir()
for outcome in transect.transform(["eol=lf"], "a", in_place=True, check=True, glob="*.txt"):
    status: str = outcome.status
snapshot: transect.Table = transect.read_snapshot("a.parquet", columns=["path"])
difference: transect.Diff = transect.diff(snapshot, pathlib.Path("b"), ignore="mtime")
page: str = transect.treemap(snapshot, measure="apparent_size").html
table: transect.Table = transect.scan([pathlib.Path("a"), "b", b"c"], exclude=["*.tmp"], threads=4)
size: int = table.disk_usage
names: list[str] = [error.path for error in table.errors]
filters: transect.Filters = {"types": "file", "max_depth": 3, "min_depth": None, "hidden": None, "follow": None}
for entry in transect.walk("a", attributes=True, threads=2, **filters):
    second: int | None = entry.st_mtime_ns
    with open(entry) as file:
        file.read()
    path: str = os.fspath(entry)
    length: int = entry.size or 0
"""


BAD = "import transect\ntransect.scan(3)\nprint(transect.walk('a').size)\ntransect.scan('a', max_dept=3)\n"


def test_types_of_a_program(tmp_path):
    (tmp_path / "good.py").write_text(PROGRAM)
    (tmp_path / "bad.py").write_text(BAD)
    (tmp_path / "mypy.ini").write_text(MYPY)
    command = [sys.executable, "-m", "mypy", "--no-error-summary"]
    good = subprocess.run([*command, "good.py"], capture_output=True, text=True, cwd=tmp_path)
    assert (good.stdout, good.returncode) == ("", 0), good.stderr
    bad = subprocess.run([*command, "bad.py"], capture_output=True, text=True, cwd=tmp_path)
    lines = [line.split(":")[1] for line in bad.stdout.splitlines() if ": error: " in line]
    assert lines == ["2", "3", "4"], bad.stdout
    assert Path(transect.__file__).with_name("py.typed").exists()


def test_types_of_a_program_in_pyright(tmp_path):
    (tmp_path / "good.py").write_text(PROGRAM)
    (tmp_path / "bad.py").write_text(BAD)
    # It has the engine of pyright, and needs nothing beside the package index.
    command = [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable, "--level", "error"]
    command += ["--outputjson", "."]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    errors = [
        (Path(error["file"]).name, error["range"]["start"]["line"] + 1)
        for error in json.loads(done.stdout)["generalDiagnostics"]
    ]
    assert errors == [("bad.py", 2), ("bad.py", 3), ("bad.py", 4)], done.stdout
