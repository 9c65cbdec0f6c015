"""The stubs and the documentation agree with the module."""

import inspect
import subprocess
import sys
from pathlib import Path

import transect


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


def test_stubs_equal_the_module(tmp_path):
    # pandas, pyarrow and tqdm have no types of their own.
    (tmp_path / "mypy.ini").write_text("[mypy]\nignore_missing_imports = True\nstrict = True\n")
    command = [sys.executable, "-m", "mypy.stubtest", "transect", "--mypy-config-file", "mypy.ini"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


PROGRAM = """
import os
import pathlib
import transect

table: transect.Table = transect.scan([pathlib.Path("a"), "b", b"c"], exclude=["*.tmp"], threads=4)
size: int = table.disk_usage
names: list[str] = [error.path for error in table.errors]
for entry in transect.walk("a", types="file"):
    with open(entry) as file:
        file.read()
    path: str = os.fspath(entry)
    length: int = entry.size or 0
"""


def test_types_of_a_program(tmp_path):
    (tmp_path / "good.py").write_text(PROGRAM)
    (tmp_path / "bad.py").write_text("import transect\ntransect.scan(3)\ntransect.walk('a').size\n")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary"]
    good = subprocess.run([*command, "good.py"], capture_output=True, text=True, cwd=tmp_path)
    assert (good.stdout, good.returncode) == ("", 0), good.stderr
    bad = subprocess.run([*command, "bad.py"], capture_output=True, text=True, cwd=tmp_path)
    lines = [line.split(":")[1] for line in bad.stdout.splitlines() if ": error: " in line]
    assert lines == ["2", "3"], bad.stdout
    assert Path(transect.__file__).with_name("py.typed").exists()
