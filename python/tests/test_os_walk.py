"""os_walk: what os.walk returns."""

import os
import sys

import pytest
import transect

try:
    from test import test_os
except ImportError:  # Some systems have them in another package. The Rust test that runs this one reports it.
    test_os = None


@pytest.mark.parametrize("topdown", [True, False])
@pytest.mark.parametrize("followlinks", [True, False])
def test_triples_equal_os_walk(tree, topdown, followlinks):
    for top in [tree, os.fsencode(tree), os.path.join(tree, "a.txt"), os.path.join(tree, "missing"), ""]:
        expected_errors, errors = [], []
        arguments = {"topdown": topdown, "followlinks": followlinks}
        expected = list(os.walk(top, onerror=expected_errors.append, **arguments))
        assert list(transect.os_walk(top, onerror=errors.append, **arguments)) == expected
        assert list(map(repr, errors)) == list(map(repr, expected_errors))
        assert [error.filename for error in errors] == [error.filename for error in expected_errors]


def test_a_link_as_top_is_followed_and_a_replaced_directory_is_not(tmp_path):
    (tmp_path / "real/below").mkdir(parents=True)
    (tmp_path / "real/file").touch()
    (tmp_path / "link").symlink_to("real")
    link = os.fspath(tmp_path / "link")
    walk = transect.os_walk(link)
    assert next(walk) == (link, ["below"], ["file"])
    (tmp_path / "real/below").rmdir()
    (tmp_path / "real/below").symlink_to(tmp_path)
    assert list(walk) == []


def test_deeper_than_the_limit_of_recursion(tmp_path):
    levels = sys.getrecursionlimit() + 100
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    assert sum(1 for _ in transect.os_walk(tmp_path)) == levels + 1
    found = [path for path, _, _ in transect.os_walk(tmp_path, topdown=False)]
    assert len(found) == levels + 1
    for path in found:
        os.rmdir(path)


def test_arguments():
    with pytest.raises(TypeError):
        next(transect.os_walk(5))
    with pytest.raises(ValueError, match="null"):
        next(transect.os_walk("a\0b"))


if test_os is not None:

    class TestOfPython(test_os.WalkTests):
        """CPython's tests of os.walk."""

        def walk(self, top, follow_symlinks=False, **arguments):
            return transect.os_walk(top, followlinks=follow_symlinks, **arguments)

    class TestOfPythonWithBytes(TestOfPython):
        """The same with bytes."""

        def walk(self, top, **arguments):
            for path, directories, files in super().walk(os.fsencode(top), **arguments):
                names = list(map(os.fsdecode, directories))
                yield os.fsdecode(path), names, list(map(os.fsdecode, files))
                directories[:] = map(os.fsencode, names)
