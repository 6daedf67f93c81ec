# SPDX-License-Identifier: GPL-2.0-or-later
"""Cells of the notebooks are Python, name what the package has, and promise what quick tables give. `make docs` executes all."""

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


class Shown:
    """Stands for the charts and tables of a notebook."""

    def __getattr__(self, name: str) -> "Shown":
        return self

    def __call__(self, *values: object, **named: object) -> "Shown":
        return self


# The other tables take a minute and more.
@pytest.mark.parametrize("name", ["blocked-load", "rt-utilization", "uclamp-sum"])
def test_scores_that_a_notebook_promises_are_the_tables(name: str) -> None:
    tree = ast.parse("\n".join(cells(FOLDER / f"{name}.md")))
    taken = (ast.Assign, ast.Assert)
    kept = [node for node in tree.body if isinstance(node, taken) and "score" in ast.unparse(node)]
    asked = [node for node in tree.body if isinstance(node, taken) and "reproduce" in ast.unparse(node)]
    assert any(isinstance(node, ast.Assert) for node in kept)
    code = ast.Module(body=[*asked, *kept], type_ignores=[])
    exec(compile(code, name, "exec"), {"pelton": pelton, "shown": Shown()})
