"""The notebook in docs runs, and its stored outputs are those that its code has."""

import json
import re
from pathlib import Path

import notebook
import pytest

FILE = Path(__file__).parent.parent / "python.ipynb"


def shape(outputs):
    """Returns outputs without what differs between file systems and runs: numbers, and the pages of maps."""
    shapes = []
    for output in outputs:
        data = output.get("data", {"text/plain": output.get("text")})
        text = re.sub(r"[\d.,]+( [KMG]iB| B)?", "N", "".join(data["text/plain"]))
        # Frames are as wide as their largest number.
        text = re.sub(r"[ ─┬┴┼═╪]+", " ", text)
        shapes.append((output["output_type"], sorted(data), text))
    return shapes


def test_notebook(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stored = json.loads(FILE.read_text())
    assert stored["nbformat"] == 4 and len(stored["cells"]) > 10
    cells = notebook.code_cells(stored)
    found = notebook.outputs(cells)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    for cell, outputs in zip(cells, found):
        assert shape(outputs) == shape(cell["outputs"]), "".join(cell["source"])
    kinds = [kind for outputs in found for output in outputs for kind in output.get("data", [])]
    assert kinds.count("text/html") >= 3
    assert any("<iframe" in "".join(html) for html in htmls(found))


def htmls(found):
    return [output["data"]["text/html"] for outputs in found for output in outputs if "text/html" in output.get("data", {})]


def test_cells_are_run_as_in_jupyter():
    cells = [{"source": ["x = 2\n", "print('a')\n", "x"]}, {"source": ["x + 1; None"]}, {"source": []}]
    first, second, third = notebook.outputs(cells)
    assert [output["output_type"] for output in first] == ["stream", "execute_result"]
    assert first[1]["data"] == {"text/plain": ["2"]}
    assert second == third == []
    with pytest.raises(NameError):
        notebook.outputs([{"source": ["y"]}])
