"""Every program in the documentation runs."""

import os
import re
import shutil
import sys
import warnings
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent / "PYTHON.md"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="hashlib.file_digest is newer")
def test_recipes(tree, monkeypatch, capsys):
    monkeypatch.chdir(tree)
    Path("report-1.csv").write_text("a,b\n")
    Path("copy").write_bytes(Path("a.txt").read_bytes())
    Path("sub/target").mkdir()
    os.unlink("ends-with-dot.")  # long, and a hole
    # `print` refuses names that are not UTF-8.
    os.unlink(os.fsdecode(b"not-\xff-utf8.txt"))
    shutil.rmtree(os.fsdecode(b"dir-\xe9"))
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 14
    printed, names = [], {}
    with warnings.catch_warnings():
        for block in blocks:
            exec(block, names)
            printed.append(capsys.readouterr().out)
            # The inventory is older than what follows.
            if "write_parquet" in block:
                Path("grown").write_bytes(b"12345")
    [totals] = [out for block, out in zip(blocks, printed) if "table.apparent_size" in block]
    assert int(totals.split()[0]) == names["table"].files
    assert "./sub/large.tar.gz" in printed[2] and "gz" in printed[3]
    assert "gz 73728 1" in printed[4] or "gz 7" in printed[4]
    assert printed[5].endswith(" ./empty-dir\n") or " .\n" in printed[5]
    assert "1969" in printed[6]
    assert "./copy" in printed[7] and "./a.txt" in printed[7]
    assert "./grown" in printed[9] and "5" in printed[9]
    assert "root" in printed[10] or str(os.geteuid()) in printed[10]
    assert printed[11] == "./sub/target\n"
    assert printed[12].startswith("./report-1.csv 4 ") and printed[12].endswith("\na,b\n\n")
    assert printed[13].splitlines()[-1] == f"{len(names['transect'].scan('.'))} 0"
