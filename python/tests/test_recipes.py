"""Every program in the documentation runs."""

import os
import re
import shutil
import stat
import warnings
from pathlib import Path

from conftest import expected

PAGE = Path(__file__).parent.parent / "PYTHON.md"


def test_recipes(tree, monkeypatch, capsys, live):
    monkeypatch.chdir(tree)
    Path("report-1.csv").write_text("a,b\n")
    Path("copy").write_bytes(Path("a.txt").read_bytes())
    Path("sub/target").mkdir()
    os.unlink("ends-with-dot.")  # long, and a hole
    # `print` refuses names that are not UTF-8.
    os.unlink(os.fsdecode(b"not-\xff-utf8.txt"))
    shutil.rmtree(os.fsdecode(b"dir-\xe9"))
    printed, names = {}, {}
    files = sum(stat.S_ISREG(status.st_mode) for status in expected(".").values())
    with warnings.catch_warnings():
        for title, code in programs():
            if "transect.changes" in code:
                if "TRANSECT" not in os.environ:
                    continue
                live(".")
            exec(code, names)
            printed[title] = capsys.readouterr().out
            # The inventory is older than what follows.
            if "write_parquet" in code:
                Path("grown").write_bytes(b"12345")
    check(printed, names, files)


def programs():
    """Returns the programs of the page, each with the line before it."""
    blocks = re.findall(r"^([^\n]+)\n\n```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    titles = [title for title, _ in blocks]
    assert len(titles) == len(set(titles)) == PAGE.read_text().count("```python\n")
    return blocks


def check(printed, names, files):
    """Checks what the programs print, by words of the line before them."""
    outputs = dict(printed)

    def output(words):
        [title] = [title for title in outputs if words in title]
        return outputs.pop(title)

    assert int(output("## Scan").split()[0]) == files
    assert output("In a notebook, a table") == ""
    entries = output("have the filters").splitlines()
    assert [line.split()[0] for line in entries[-2:]] == ["a.txt", "large.tar.gz"]
    assert "./report-1.csv" in entries[1]
    assert output("contains the tree and works offline") == "" and Path("map.html").stat().st_size > 10_000
    assert "added notes.txt None 4\n" in output("must be absolute")
    cache = output("which changes it may miss")
    assert cache.startswith("5 False\n") and "not_found" in cache
    assert output("a renamed directory also has its") == "added ./new 0\n"
    if "TRANSECT" in os.environ:
        assert output("from a running `transect live`") == "added ./later\nremoved ./later\n"
    transformed = output("With `check=True`, nothing is changed").splitlines()
    assert "./a.txt same 5 5" in transformed and len(transformed[-1]) == 64
    assert "./sub/large.tar.gz" in output("largest files")
    assert "gz" in output("in SQL")
    assert "gz 7" in output("several names")
    assert output("largest directories").splitlines()[0].endswith(" .")
    assert "1969" in output("by year")
    same = output("same content")
    assert "./copy" in same and "./a.txt" in same
    assert output("Parquet") == ""
    grown = output("What grew")
    assert "./grown" in grown and "5" in grown
    owners = output("by owner")
    assert "root" in owners or str(os.geteuid()) in owners
    assert output("build can make again") == "./sub/target\n"
    first = output("first file that matches")
    assert first.startswith("./report-1.csv 4 ") and first.endswith("\na,b\n\n")
    assert "./sub/large.tar.gz 70000\n" in output("passes on")
    walked = output("no object for each entry").splitlines()
    assert walked[0].startswith(". ") and "./sub/deeper 1" in walked and not any("target" in line for line in walked)
    assert output("Progress").splitlines()[-1] == f"{len(names['transect'].scan('.'))} 0"
    assert not outputs
