"""The example for fsspec finds what fsspec finds."""

import os

import pytest
from examples.local_files import TransectFileSystem
from fsspec.implementations.local import LocalFileSystem

pytestmark = pytest.mark.once


@pytest.mark.parametrize("detail", [True, False])
@pytest.mark.parametrize("withdirs", [True, False])
@pytest.mark.parametrize("maxdepth", [None, 1, 2])
def test_find_equals_that_of_fsspec(tree, detail, withdirs, maxdepth):
    plain, example = LocalFileSystem(), TransectFileSystem()
    for path in tree, os.path.join(tree, "sub"), os.path.join(tree, "a.txt"), "file://" + tree:
        expected = plain.find(path, maxdepth, withdirs, detail)
        found = example.find(path, maxdepth, withdirs, detail)
        assert list(found) == list(expected)
        if detail:
            for name in found:
                created = found[name].pop("created", None)
                assert created == pytest.approx(expected[name].pop("created", None)), name
        assert found == expected


def test_glob_uses_it(tree):
    plain, example = LocalFileSystem(), TransectFileSystem()
    for pattern in "/**", "/*", "/**/*.gz", "/sub/*":
        assert example.glob(tree + pattern) == plain.glob(tree + pattern)
