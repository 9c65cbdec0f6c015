"""map: a page, in a notebook and in a file."""

import base64
import html
import json
import re
import zlib

import pytest
import transect
from conftest import expected


def parts(page):
    """Returns what a page says of the tree as a whole, and the bytes of its columns."""
    about, columns = [
        re.search(f'<script type="[^"]*" id="{part}">(.*?)</script>', page).group(1)
        for part in ["about", "columns"]
    ]
    return json.loads(about), zlib.decompress(base64.b64decode(columns), -15)


def test_page_of_a_table(tree, tmp_path):
    page = transect.treemap(transect.scan(tree))
    assert page.html.startswith("<!DOCTYPE html>")
    about, names = parts(page.html)
    assert about["title"] == tree and about["entries"] == len(expected(tree)) and about["complete"]
    assert b"large.tar.gz" in names
    page.write(tmp_path / "map.html")
    assert (tmp_path / "map.html").read_text() == page.html
    assert repr(page) == f"<transect.Map: a page of {len(page.html.encode())} bytes; write(path) stores it>"
    with pytest.raises(FileNotFoundError):
        page.write(tmp_path / "missing" / "map.html")
    # Nothing is loaded from elsewhere.
    assert not re.findall(r"(?:src|href)=[\"']?https?:", page.html)


def test_frame_in_a_notebook(tmp_path):
    root = tmp_path / "<b>&\"'"
    (root / "</iframe><script>alert(1)").mkdir(parents=True)
    page = transect.treemap([root], height=300)
    frame = page._repr_html_()
    [attributes] = re.findall(r'^<iframe ([^>]*) srcdoc="([^"]*)"></iframe>$', frame)
    assert html.unescape(attributes[1]) == page.html
    assert 'sandbox="allow-scripts"' in attributes[0] and 'height="300"' in attributes[0]
    assert "<script>alert(1)" not in page.html


def test_page_of_a_snapshot_and_of_a_part(tree, tmp_path):
    transect.scan(tree).write_snapshot(tmp_path / "a.parquet")
    about, names = parts(transect.treemap(transect.read_snapshot(tmp_path / "a.parquet")).html)
    assert about["entries"] == len(expected(tree)) and b"large.tar.gz" in names
    about, names = parts(transect.treemap(tree, exclude="sub", measure="apparent_size", max_entries=5).html)
    assert (about["measure"], about["shown"] <= 5) == ("apparent_size", True)
    assert b"large.tar.gz" not in names


def test_bad_arguments(tree):
    with pytest.raises(ValueError, match="there is no measure 'entries'"):
        transect.treemap(tree, measure="entries")
    with pytest.raises(TypeError, match="options need paths"):
        transect.treemap(transect.scan(tree), exclude="sub")
    with pytest.raises(FileNotFoundError):
        transect.treemap(tree + "/missing")
    with pytest.raises(OverflowError):
        transect.treemap(tree, height=-1)
