#!/usr/bin/env python3
"""Runs the code of a notebook as Jupyter does, and stores the outputs in it: notebook.py FILE

It needs no Jupyter: a cell is run, and its last expression is shown as text and, if it has _repr_html_, as
HTML. Everything else of the notebook stays as it is.
"""

import ast
import contextlib
import io
import json
import sys


def outputs(cells):
    """Runs cells of code one after the other, and returns the outputs of each."""
    names = {"__name__": "__main__"}
    return [run("".join(cell["source"]), names, number) for number, cell in enumerate(cells, 1)]


def run(code, names, number):
    """Runs a cell, and returns its outputs in the format of notebooks."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"<cell {number}>", "exec"), names)
        if last:
            value = eval(compile(ast.Expression(last.value), f"<cell {number}>", "eval"), names)
    found = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        found.append({"name": "stdout", "output_type": "stream", "text": text})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = value._repr_html_().splitlines(keepends=True)
        result = {"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"}
        found.append(result)
    return found


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def main(path):
    with open(path) as file:
        notebook = json.load(file)
    cells = code_cells(notebook)
    for number, (cell, found) in enumerate(zip(cells, outputs(cells)), 1):
        cell.update(outputs=found, execution_count=number)
    with open(path, "w") as file:
        json.dump(notebook, file, indent=1, sort_keys=True, ensure_ascii=False)
        file.write("\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
