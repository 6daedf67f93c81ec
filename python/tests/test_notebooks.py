# SPDX-License-Identifier: GPL-2.0-or-later
"""Cells of the notebooks are Python, and name what the package has. `make docs` executes them."""

import ast
import re
from pathlib import Path

import pytest

import pelton

FOLDER = Path(__file__).parents[2] / "docs/notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.md"))
CELL = re.compile(r"^```\{code-cell\}\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def cells(notebook: Path) -> list[str]:
    """Code of a notebook."""
    return CELL.findall(notebook.read_text(encoding="utf-8"))


def names(tree: ast.AST, module: str) -> set[str]:
    """What code takes from a module, by its name."""
    taken = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return {node.attr for node in taken if isinstance(node.value, ast.Name) and node.value.id == module}


def helpers() -> set[str]:
    """Functions beside the notebooks."""
    tree = ast.parse((FOLDER / "shown.py").read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) > 10


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_name_what_there_is(notebook: Path) -> None:
    code = cells(notebook)
    assert code
    tree = ast.parse("\n".join(code))
    assert [name for name in names(tree, "pelton") if not hasattr(pelton, name)] == []
    assert names(tree, "shown") <= helpers()
